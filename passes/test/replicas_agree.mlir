// RUN: tandem-opt %s -td-verify-input -split-input-file -verify-diagnostics
// RUN: tandem-opt %s -td-verify-distribute -split-input-file -verify-diagnostics

// What replicas compute from their own rows reaches an update or an output through td.cross_replica only.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%n: tensor<f32> {td.scalar = "replica_example_count"}) -> (tensor<f32> {td.update = @w}) {
    // expected-error @+1 {{the update of @w differs between replicas: td.cross_replica has to combine it}}
    %m = td.neg %n : tensor<f32>
    return %m : tensor<f32>
  }
}

// -----

module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"}) -> (tensor<4xf32> {td.output = "mean"}) {
    // expected-error @+2 {{the output "mean" differs between replicas: td.cross_replica has to combine it}}
    // expected-note @+1 {{made from rows here}}
    %m = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce sum, %xs axes [0] scope replica : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %a : tensor<4xf32>
    }
    return %m : tensor<4xf32>
  }
}

// -----

// So does what follows from the number of a replica.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  td.variable @w : tensor<i32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%i: tensor<i32> {td.scalar = "replica_index"}) -> (tensor<i32> {td.update = @w}) {
    // expected-error @+1 {{the update of @w differs between replicas: td.cross_replica has to combine it}}
    %m = td.neg %i : tensor<i32>
    return %m : tensor<i32>
  }
}

// -----

// One replica agrees with itself.
module attributes {exec.config = #exec.config<>} {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%n: tensor<f32> {td.scalar = "replica_example_count"}) -> (tensor<f32> {td.update = @w}) {
    return %n : tensor<f32>
  }
}
