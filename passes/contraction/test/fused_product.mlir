// RUN: tandem-opt %s -td-choose-contractions -td-expand-contractions -split-input-file | FileCheck %s

// One column: a dot product per example.
// CHECK-LABEL: func.func @dot
// CHECK: %[[W:.*]] = td.reshape %arg1 : tensor<4x1xf32> -> tensor<4xf32>
// CHECK: %[[ALONG:.*]] = td.broadcast %[[W]] dims [1] : tensor<4xf32> -> tensor<?x4xf32>
// CHECK: %[[MUL:.*]] = td.mul %arg0, %[[ALONG]]
// CHECK: %[[SUM:.*]] = td.reduce sum, %[[MUL]] axes [1]
// CHECK: %[[Y:.*]] = td.reshape %[[SUM]] : tensor<?xf32> -> tensor<?x1xf32>
// CHECK: return %[[Y]]
func.func @dot(%x: tensor<?x4xf32>, %w: tensor<4x1xf32>) -> tensor<?x1xf32> {
  %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x1xf32> -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// -----

// Its gradient to x has one inner element: an outer product per example.
// CHECK-LABEL: func.func @outer
// CHECK-NOT: td.matmul
// CHECK: td.reshape %arg0 : tensor<?x1xf32> -> tensor<?xf32>
// CHECK: td.broadcast {{.*}} dims [0] : tensor<?xf32> -> tensor<?x4xf32>
// CHECK: td.mul
func.func @outer(%dy: tensor<?x1xf32>, %w: tensor<4x1xf32>) -> tensor<?x4xf32> {
  %0 = td.matmul %dy, %w {transpose_b = true} : tensor<?x1xf32>, tensor<4x1xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Its gradient to w sums over the batch.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: td.matmul
// CHECK: %[[SUM:.*]] = td.reduce sum, {{.*}} axes [0] : tensor<?x4xf32> -> tensor<4xf32>
// CHECK: td.reshape %[[SUM]] : tensor<4xf32> -> tensor<4x1xf32>
func.func @weights(%x: tensor<?x4xf32>, %dy: tensor<?x1xf32>) -> tensor<4x1xf32> {
  %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x4xf32>, tensor<?x1xf32> -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// Real products stay with the library: two columns and two inner elements, or too many numbers, or no batch.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: td.matmul
func.func @others(%x: tensor<?x2xf32>, %w: tensor<2x2xf32>, %long: tensor<?x65xf32>, %v: tensor<65x1xf32>)
    -> (tensor<?x2xf32>, tensor<?x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = td.matmul %x, %w : tensor<?x2xf32>, tensor<2x2xf32> -> tensor<?x2xf32>
  %1 = td.matmul %long, %v : tensor<?x65xf32>, tensor<65x1xf32> -> tensor<?x1xf32>
  %2 = td.matmul %x, %x {transpose_a = true} : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<2x2xf32>
  %3 = td.matmul %w, %w : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<?x2xf32>, tensor<?x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
