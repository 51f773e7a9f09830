// RUN: tandem-opt %s -td-verify-distribute -split-input-file -verify-diagnostics

// What must hold at the end of every phase from `distribute` on; verify_libraries.mlir, verify_fused.mlir and
// verify_buffers.mlir have what later phases add.

// expected-error @+1 {{has no function @step at the end of phase distribute}}
module {
}

// -----

module {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step() -> (tensor<f32> {td.output = "w"}) {
    // expected-error @+1 {{is left in @step, which must be pure}}
    %w = td.read @w : tensor<f32>
    return %w : tensor<f32>
  }
}

// -----

module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%n: tensor<f32> {td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{is left behind td-insert-all-reduce}}
    %m = td.cross_replica sum %n : tensor<f32>
    return %m : tensor<f32>
  }
}

// -----

module {
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"}) -> (tensor<?x4xf32> {td.output = "y"}) {
    // expected-error @+1 {{works on batched values outside a map}}
    %y = td.relu %x : tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

// -----

module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%n: tensor<f32> {td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{is not numbered in program order}}
    %m = exec.all_reduce sum %n {bucket = 0, group = array<i64: 0, 1>, seq = 1} : tensor<f32> -> tensor<f32>
    return %m : tensor<f32>
  }
}

// -----

module {
  func.func @step(%n: tensor<f32> {td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    return %n : tensor<f32>
  }
  // expected-error @+1 {{has no body stride}}
  exec.replica @replica_0 device("cpu:0") body(@stride)
}
