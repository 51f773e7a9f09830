// RUN: tandem-opt %s -td-verify-fusion -verify-diagnostics

// After phase `fusion` everything that is computed is in a kernel or a library call.
module {
  func.func @step(%n: tensor<f32> {td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{is in no kernel at the end of phase fusion}}
    %m = td.neg %n : tensor<f32>
    return %m : tensor<f32>
  }
}
