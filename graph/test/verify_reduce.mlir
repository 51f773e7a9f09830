// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of reductions, message by message, and an unknown scope.

func.func @decreasing_axes(%x: tensor<?x3xf32>) {
  // expected-error @+2 {{axes [1,0] must increase and be dimensions of [b,3]}}
  // expected-error @+1 {{'td.reduce' op failed to infer returned types}}
  %0 = td.reduce sum, %x axes [1, 0] : tensor<?x3xf32> -> tensor<f32>
  return
}

// -----

func.func @negative_axis(%x: tensor<?x3xf32>) {
  // expected-error @+2 {{axes [-1] must increase and be dimensions of [b,3]}}
  // expected-error @+1 {{'td.reduce' op failed to infer returned types}}
  %0 = td.reduce sum, %x axes [-1] : tensor<?x3xf32> -> tensor<?xf32>
  return
}

// -----

func.func @argmax_axis(%x: tensor<?x3xf32>) {
  // expected-error @+2 {{axis 2 is not a dimension of [b,3]}}
  // expected-error @+1 {{'td.argmax' op failed to infer returned types}}
  %0 = td.argmax %x axis 2 : tensor<?x3xf32> -> tensor<?xi64>
  return
}

// -----

func.func @scope(%x: tensor<?x3xf32>) {
  // expected-error @+2 {{to be one of: global, replica}}
  // expected-error @+1 {{failed to parse Td_BatchScopeAttr}}
  %0 = td.reduce sum, %x axes [0] scope worker : tensor<?x3xf32> -> tensor<3xf32>
  return
}
