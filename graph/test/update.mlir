// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s

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

// -----

func.func @shape(%w: tensor<4xf32>, %g: tensor<3xf32>, %lr: tensor<f32>) {
  // expected-error @+2 {{gradient [3] does not fit the variable [4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @rate(%w: tensor<4xf64>, %g: tensor<4xf64>, %lr: tensor<f32>) {
  // expected-error @+2 {{the learning rate must be a scalar of type 'f64', not 'tensor<f32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf64>, tensor<4xf64>, tensor<f32>) -> tensor<4xf64>
  return
}
