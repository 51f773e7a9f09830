// RUN: tandem-opt %s -td-decompose -split-input-file | FileCheck %s

// The loss is logsumexp - logits[label], of logits shifted by the row's maximum; NaN for a label of no class.
// CHECK-LABEL: func.func @loss
// CHECK: %[[MAX:.*]] = td.reduce max, %arg1 axes [1]
// CHECK: %[[SHIFTED:.*]] = td.sub %arg1
// CHECK: %[[EXP:.*]] = td.exp %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = td.reduce sum, %[[EXP]] axes [1]
// CHECK: %[[LOG:.*]] = td.log %[[SUM]]
// CHECK: td.iota axis 1
// CHECK: %[[HIT:.*]] = td.compare eq
// CHECK: %[[LABEL:.*]] = td.select %[[HIT]], %[[SHIFTED]]
// CHECK: %[[PICKED:.*]] = td.reduce sum, %[[LABEL]]
// CHECK: %[[LOSS:.*]] = td.sub %[[LOG]], %[[PICKED]]
// CHECK: %[[LOW:.*]] = td.compare ge, %arg0
// CHECK: %[[ABOVE:.*]] = td.select %[[LOW]], %[[LOSS]]
// CHECK: %[[HIGH:.*]] = td.compare le, %arg0
// CHECK: %[[ROW:.*]] = td.select %[[HIGH]], %[[ABOVE]]
// CHECK: return %[[ROW]]
func.func @loss(%labels: tensor<?xi32>, %logits: tensor<?x10xf32>) -> tensor<?xf32> {
  %0 = td.sparse_softmax_cross_entropy %labels, %logits : tensor<?xi32>, tensor<?x10xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Two passes over x: the mean, then the squared deviations from it, both over the rows of one replica.
// CHECK-LABEL: func.func @moments
// CHECK: %[[S:.*]] = td.reduce sum, %arg0 axes [0, 1, 2] scope replica
// CHECK: %[[MEAN:.*]] = td.div %[[S]]
// CHECK: %[[C:.*]] = td.sub %arg0
// CHECK: %[[SQ:.*]] = td.mul %[[C]], %[[C]]
// CHECK: td.reduce sum, %[[SQ]] axes [0, 1, 2] scope replica
// CHECK: %[[VAR:.*]] = td.div
// CHECK: return %[[MEAN]], %[[VAR]]
func.func @moments(%x: tensor<?x4x4x8xf32>, %n: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %m, %v = td.batch_moments %x, %n scope replica : tensor<?x4x4x8xf32>, tensor<f32> -> tensor<8xf32>, tensor<8xf32>
  return %m, %v : tensor<8xf32>, tensor<8xf32>
}

// -----

// Two passes again, over the last axis: nothing is left that is not elementwise or a sum over a row.
// CHECK-LABEL: func.func @layer_norm
// CHECK: td.reduce sum, %arg0 axes [2]
// CHECK: %[[C:.*]] = td.sub %arg0
// CHECK: %[[SQ:.*]] = td.mul %[[C]], %[[C]]
// CHECK: td.reduce sum, %[[SQ]] axes [2]
// CHECK: %[[R:.*]] = td.rsqrt
// CHECK: %[[Y:.*]] = td.mul %[[C]]
// CHECK-NOT: td.layer_norm
// CHECK: return %[[Y]], %[[R]]
func.func @layer_norm(%x: tensor<?x4x8xf32>) -> (tensor<?x4x8xf32>, tensor<?x4xf32>) {
  %y, %r = td.layer_norm %x epsilon 1.0e-3 : tensor<?x4x8xf32> -> tensor<?x4x8xf32>, tensor<?x4xf32>
  return %y, %r : tensor<?x4x8xf32>, tensor<?x4xf32>
}
