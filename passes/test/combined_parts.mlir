// RUN: tandem-opt %s -td-verify-distribute -split-input-file -verify-diagnostics

// A replica's part of a sum over all rows is for exec.all_reduce alone: without td-insert-all-reduce nothing is trained.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"}) -> (tensor<4xf32> {td.output = "g"}) {
    // expected-note @+1 {{which exec.all_reduce has to combine}}
    %g = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce sum, %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %a : tensor<4xf32>
    }
    // expected-error @+1 {{reads one replica's part of a sum over all replicas}}
    %h = td.neg %g : tensor<4xf32>
    return %h : tensor<4xf32>
  }
}

// -----

module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%n: tensor<f32> {td.scalar = "replica_example_count"}) -> (tensor<f32> {td.update = @w}) {
    // expected-error @+1 {{is left behind td-insert-all-reduce}}
    %m = td.cross_replica mean %n : tensor<f32>
    return %m : tensor<f32>
  }
}
