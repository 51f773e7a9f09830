// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The verifier of td.select, message by message.

func.func @condition(%c: tensor<2xi1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{'td.select' op has a condition of another shape than its values: 'tensor<2xi1>', 'tensor<3xf32>'}}
  %0 = td.select %c, %x, %x : tensor<2xi1>, tensor<3xf32>
  return
}
