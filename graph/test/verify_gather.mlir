// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of td.gather and the verifier of td.scatter_add, message by message.

func.func @scalar_params(%p: tensor<f32>, %i: tensor<?xi64>) {
  // expected-error @+2 {{params [] need at least one dimension}}
  // expected-error @+1 {{'td.gather' op failed to infer returned types}}
  %0 = td.gather %p, %i : (tensor<f32>, tensor<?xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @batched_params(%p: tensor<?x3xf32>, %i: tensor<?xi64>) {
  // expected-error @+2 {{params [b,3] must not be batched: rows would mix}}
  // expected-error @+1 {{'td.gather' op failed to infer returned types}}
  %0 = td.gather %p, %i : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x3xf32>
  return
}

// -----

func.func @float_indices(%p: tensor<4x3xf32>, %i: tensor<?xf32>) {
  // expected-error @+1 {{'td.gather' op operand #1 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<?xf32>'}}
  %0 = td.gather %p, %i : (tensor<4x3xf32>, tensor<?xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @updates(%x: tensor<?x2xf32>, %i: tensor<?xi64>) {
  // expected-error @+1 {{'td.scatter_add' op updates [b,2] do not fit indices [b] and result [3,4]}}
  %0 = td.scatter_add %x, %i : (tensor<?x2xf32>, tensor<?xi64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @batched_result(%x: tensor<?x4xf32>, %i: tensor<?xi64>) {
  // expected-error @+1 {{'td.scatter_add' op updates [b,4] do not fit indices [b] and result [b,4]}}
  %0 = td.scatter_add %x, %i : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  return
}

// -----

func.func @scalar_result(%x: tensor<?xf32>, %i: tensor<?xi64>) {
  // expected-error @+1 {{'td.scatter_add' op updates [b] do not fit indices [b] and result []}}
  %0 = td.scatter_add %x, %i : (tensor<?xf32>, tensor<?xi64>) -> tensor<f32>
  return
}
