// RUN: tandem-opt %s -td-verify-memory -verify-diagnostics

// After phase `memory` every value has a buffer.
module attributes {td.replicas = 2 : i64} {
  func.func @step(%n: tensor<f32> {td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{has no buffers at the end of phase memory}}
    %m = td.all_reduce "sum" %n {bucket = 0, group = array<i64: 0, 1>, seq = 0} : tensor<f32> -> tensor<f32>
    return %m : tensor<f32>
  }
}
