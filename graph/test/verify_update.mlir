// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of optimizer updates, message by message.

func.func @gradient_shape(%w: tensor<4xf32>, %g: tensor<3xf32>, %lr: tensor<f32>) {
  // expected-error @+2 {{gradient float32 [3] does not fit the variable float32 [4]: shape and dtype must be the same}}
  // expected-error @+1 {{'td.apply_sgd' op failed to infer returned types}}
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @gradient_type(%w: tensor<4xf32>, %g: tensor<4xf64>, %lr: tensor<f32>) {
  // expected-error @+2 {{gradient float64 [4] does not fit the variable float32 [4]: shape and dtype must be the same}}
  // expected-error @+1 {{'td.apply_sgd' op failed to infer returned types}}
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf64>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @slot(%w: tensor<4xf32>, %a: tensor<5xf32>, %lr: tensor<f32>) {
  // expected-error @+2 {{slot float32 [5] does not fit the variable float32 [4]: shape and dtype must be the same}}
  // expected-error @+1 {{'td.apply_momentum' op failed to infer returned types}}
  %0, %1 = td.apply_momentum %w, %a, %w, %lr {momentum = 0.9}
      : (tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @rate_type(%w: tensor<4xf64>, %g: tensor<4xf64>, %lr: tensor<f32>) {
  // expected-error @+2 {{the learning rate must be a scalar of type 'f64', not 'tensor<f32>'}}
  // expected-error @+1 {{'td.apply_sgd' op failed to infer returned types}}
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf64>, tensor<4xf64>, tensor<f32>) -> tensor<4xf64>
  return
}

// -----

func.func @rate_shape(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<4xf32>) {
  // expected-error @+2 {{the learning rate must be a scalar of type 'f32', not 'tensor<4xf32>'}}
  // expected-error @+1 {{'td.apply_sgd' op failed to infer returned types}}
  %0 = td.apply_sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
