// RUN: tandem-opt %s -td-verify-memory -split-input-file -verify-diagnostics

// After phase `memory` every value has a buffer.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>,
                   exec.buffers = [#exec.buffer<name = "rate", space = scalar, type = tensor<f32>>]} {
  func.func @step(%n: tensor<f32> {exec.buffer = 0 : i64, td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{has no buffers for its 1 results}}
    %m = exec.all_reduce sum %n {bucket = 0, group = array<i64: 0, 1>, seq = 0} : tensor<f32> -> tensor<f32>
    return %m : tensor<f32>
  }
}

// -----

// expected-error @+1 {{exec.buffers is no list of buffers}}
module attributes {exec.buffers = ["rate"]} {
  func.func @step(%n: tensor<f32> {exec.buffer = 0 : i64, td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    return {exec.out = array<i64>} %n : tensor<f32>
  }
}

// -----

module {
  // expected-error @+1 {{argument 0 of @step has no buffer}}
  func.func @step(%n: tensor<f32> {exec.buffer = 0 : i64, td.scalar = "rate"}) -> (tensor<f32> {td.output = "n"}) {
    return {exec.out = array<i64>} %n : tensor<f32>
  }
}

// -----

module attributes {exec.buffers = [#exec.buffer<name = "x", space = input, type = tensor<?xf32>>]} {
  func.func @step(%x: tensor<?xf32> {exec.buffer = 0 : i64, td.input = "x"}) -> (tensor<?xf32> {td.output = "y"}) {
    // expected-error @+1 {{has no buffers for the arguments of its body}}
    %y = exec.map_microbatches (%x : tensor<?xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?xf32>)
        attributes {exec.args = array<i64: 1>, exec.out = array<i64: 0>} {
    ^bb0(%xs: tensor<?xf32>):
      exec.yield %xs : tensor<?xf32> {exec.out = array<i64>}
    }
    return {exec.out = array<i64>} %y : tensor<?xf32>
  }
}

// -----

module attributes {exec.buffers = [#exec.buffer<name = "x", space = input, type = tensor<?xf32>>]} {
  func.func @step(%x: tensor<?xf32> {exec.buffer = 0 : i64, td.input = "x"}) -> (tensor<?xf32> {td.output = "y"}) {
    // expected-error @+1 {{exec.lane_slots is no list of slots}}
    %y = exec.map_microbatches (%x : tensor<?xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?xf32>)
        attributes {exec.args = array<i64: 0>, exec.out = array<i64: 0>, exec.lane_slots = 1} {
    ^bb0(%xs: tensor<?xf32>):
      exec.yield %xs : tensor<?xf32> {exec.out = array<i64>}
    }
    return {exec.out = array<i64>} %y : tensor<?xf32>
  }
}

// -----

module attributes {exec.buffers = [#exec.buffer<name = "x", space = input, type = tensor<?xf32>>]} {
  func.func @step(%x: tensor<?xf32> {exec.buffer = 0 : i64, td.input = "x"}) -> (tensor<?xf32> {td.output = "y"}) {
    // expected-error @+1 {{has 1 lane slots for 0 results that lanes combine}}
    %y = exec.map_microbatches (%x : tensor<?xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?xf32>)
        attributes {exec.args = array<i64: 0>, exec.out = array<i64: 0>, exec.lane_slots = [#exec.lane_slot<buffer = 0, kind = sum>]} {
    ^bb0(%xs: tensor<?xf32>):
      exec.yield %xs : tensor<?xf32> {exec.out = array<i64>}
    }
    return {exec.out = array<i64>} %y : tensor<?xf32>
  }
}
