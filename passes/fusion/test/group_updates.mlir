// RUN: tandem-opt %s -td-group-updates | FileCheck %s

func.func private @sgd(%w: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %w, %g : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Updates by one kernel are one command; a launch that another op reads stays alone.
// CHECK-LABEL: func.func @step
func.func @step(%w0: tensor<4xf32>, %g0: tensor<4xf32>, %w1: tensor<2x3xf32>, %g1: tensor<2x3xf32>)
    -> (tensor<4xf32>, tensor<2x3xf32>) {
  // CHECK: %[[N:.*]] = exec.launch @sgd(%arg1, %arg1)
  // CHECK: %[[U:.*]]:2 = exec.grouped_launch @sgd x 2(%arg0, %[[N]], %arg2, %arg3)
  // CHECK: return %[[U]]#0, %[[U]]#1
  %n = exec.launch @sgd(%g0, %g0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = exec.launch @sgd(%w0, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = exec.launch @sgd(%w1, %g1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %b : tensor<4xf32>, tensor<2x3xf32>
}
