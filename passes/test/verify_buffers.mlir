// RUN: tandem-opt %s -td-verify-memory -verify-diagnostics

// After phase `memory` every value has a buffer.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%n: tensor<f32> {td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{has no buffers at the end of phase memory}}
    %m = exec.all_reduce sum %n {bucket = 0, group = array<i64: 0, 1>, seq = 0} : tensor<f32> -> tensor<f32>
    return %m : tensor<f32>
  }
}
