// RUN: tandem-opt %s -td-warn-batch-constants -verify-diagnostics -split-input-file

module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], batch = 64>} {
  func.func @step(%l: tensor<?xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %s = td.reduce sum, %l axes [0] : tensor<?xf32> -> tensor<f32>
    %per_replica = td.constant dense<0.015625> : tensor<f32>
    // expected-warning @+1 {{scales a sum over the batch by a constant 1/64: a last batch with fewer examples}}
    %a = td.mul %s, %per_replica : tensor<f32>
    %global = td.constant dense<128.0> : tensor<f32>
    // expected-warning @+1 {{scales a sum over the batch by a constant 1/128}}
    %b = td.div %s, %global : tensor<f32>
    // Any other number is the user's business.
    %half = td.constant dense<0.5> : tensor<f32>
    %c = td.mul %s, %half : tensor<f32>
    return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<f32>
  }
}
