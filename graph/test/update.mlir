// RUN: tandem-opt %s | tandem-opt | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%w: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // CHECK: td.apply_sgd %{{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: td.apply_adam
  // CHECK-SAME: beta1 = 9.000000e-01
  %1:3 = td.apply_adam %w, %m, %v, %g, %lr {beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-7}
    : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
