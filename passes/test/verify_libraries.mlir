// RUN: tandem-opt %s -td-verify-layout -verify-diagnostics

// After td-select-libraries no op that a library computes is left.
module {
  td.variable @a : tensor<4x4xf32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%a: tensor<4x4xf32> {td.variable = @a}) -> (tensor<4x4xf32> {td.output = "b"}) {
    // expected-error @+1 {{has a library primitive but was not selected for it}}
    %b = td.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %b : tensor<4x4xf32>
  }
}
