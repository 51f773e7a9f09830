// RUN: tandem-opt %s -td-lower-attention -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[Q:.*]]: tensor<?x2x5x4xf32>, %[[DY:.*]]: tensor<?x2x5x4xf32>
// CHECK: %[[Y:.*]], %[[M:.*]], %[[S:.*]], %{{.*}} = exec.attention %[[Q]], %[[Q]], %[[Q]] {causal, scale = 5.000000e-01 : f64}
// CHECK-SAME: -> (tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<{{[0-9]+}}xui8>)
// CHECK: exec.attention_grad %[[Q]], %[[Q]], %[[Q]], %[[Y]], %[[M]], %[[S]], %[[DY]] {causal, scale = 5.000000e-01 : f64}
// CHECK-NOT: td.attention
func.func @step(%q: tensor<?x2x5x4xf32>, %dy: tensor<?x2x5x4xf32>) -> (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>) {
  %y, %m, %s = td.attention %q, %q, %q {causal, scale = 5.0e-01} : (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>) -> (tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>)
  %dq, %dk, %dv = td.attention_grad %q, %q, %q, %y, %m, %s, %dy {causal, scale = 5.0e-01} : (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<?x2x5x4xf32>) -> (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>)
  return %dq, %dk, %dv : tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>
}

// -----

// Kernels for GPUs keep in registers what they work with.
// CHECK-LABEL: module attributes {exec.config = #exec.config<target = <backend = cuda
// CHECK: td.attention %{{.*}} {scale = 5.000000e-01 : f64}
// CHECK-NOT: exec.attention
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
  func.func @step(%q: tensor<?x2x5x4xf32>) -> tensor<?x2x5x4xf32> {
    %y, %m, %s = td.attention %q, %q, %q {scale = 5.0e-01} : (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>) -> (tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>)
    return %y : tensor<?x2x5x4xf32>
  }
}
