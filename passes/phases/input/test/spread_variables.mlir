// RUN: sed s/SERVER/-1/ %s | tandem-opt -td-partition-step -split-input-file | FileCheck %s --check-prefixes=CHECK,WORKER
// RUN: sed s/SERVER/0/ %s | tandem-opt -td-partition-step -split-input-file | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: sed s/SERVER/1/ %s | tandem-opt -td-partition-step -split-input-file | FileCheck %s --check-prefixes=CHECK,SECOND

// The rows of @w, which is more than half of all bytes, are on both servers, as are those of its slot; @b is on one.
// Each server gets its rows of the gradient, and the factor, which the broadcast makes as many rows of.
// CHECK: exec.placement = [#exec.placed_part<variable = "w", server = 0, rows = 2049>,
// CHECK-SAME: #exec.placed_part<variable = "w", server = 1, first_row = 2049, rows = 2048>,
// CHECK-SAME: #exec.placed_part<variable = "w/Momentum", server = 0, rows = 2049>,
// CHECK-SAME: #exec.placed_part<variable = "w/Momentum", server = 1, first_row = 2049, rows = 2048>,
// CHECK-SAME: #exec.placed_part<variable = "b", server = 1>]
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2, server = SERVER>>} {
  // WORKER-DAG: td.variable @w : tensor<4097x64xf32> {exec.updated_by_others, trainable}
  // WORKER-NOT: Momentum
  // FIRST-DAG: td.variable @"w[0:2049]" : tensor<2049x64xf32> {trainable}
  // FIRST-DAG: td.variable @"w/Momentum[0:2049]" : tensor<2049x64xf32> {slot_of = "w[0:2049]"}
  // FIRST-NOT: @b
  // SECOND-DAG: td.variable @"w[2049:4097]" : tensor<2048x64xf32> {trainable}
  // SECOND-DAG: td.variable @"w/Momentum[2049:4097]" : tensor<2048x64xf32> {slot_of = "w[2049:4097]"}
  // SECOND-DAG: td.variable @b : tensor<64xf32> {trainable}
  td.variable @w : tensor<4097x64xf32> {trainable}
  td.variable @"w/Momentum" : tensor<4097x64xf32> {slot_of = "w"}
  td.variable @b : tensor<64xf32> {trainable}
  // CHECK-LABEL: func.func @step(
  func.func @step(%x: tensor<?x4097xf32> {td.input = "x"}, %lr: tensor<f32> {td.scalar = "learning_rate"},
                  %w: tensor<4097x64xf32> {td.variable = @w}, %m: tensor<4097x64xf32> {td.variable = @"w/Momentum"},
                  %b: tensor<64xf32> {td.variable = @b})
      -> (tensor<4097x64xf32> {td.update = @w}, tensor<4097x64xf32> {td.update = @"w/Momentum"},
          tensor<64xf32> {td.update = @b}) {
    %y = td.matmul %x, %w : tensor<?x4097xf32>, tensor<4097x64xf32> -> tensor<?x64xf32>
    %gw = td.matmul %x, %y {transpose_a = true} : tensor<?x4097xf32>, tensor<?x64xf32> -> tensor<4097x64xf32>
    %gb = td.reduce sum, %y axes [0] : tensor<?x64xf32> -> tensor<64xf32>
    %factor = td.reduce sum, %y axes [0, 1] : tensor<?x64xf32> -> tensor<f32>
    // WORKER: %[[G:.*]] = td.matmul {{.*}} {transpose_a = true}
    // WORKER-DAG: %[[G0:.*]] = td.slice %[[G]] begin [0, 0] size [2049, 64] : tensor<4097x64xf32> -> tensor<2049x64xf32>
    // WORKER-DAG: %[[G1:.*]] = td.slice %[[G]] begin [2049, 0] size [2048, 64]
    // WORKER: return
    // FIRST: %[[F:.*]] = td.broadcast %{{.*}} dims [] : tensor<f32> -> tensor<2049x64xf32>
    // FIRST: %[[C:.*]] = td.mul %{{.*}}, %[[F]] : tensor<2049x64xf32>
    // FIRST: %[[S:.*]] = td.constant dense<5.000000e-01> : tensor<2049x64xf32>
    // FIRST: %[[H:.*]] = td.mul %[[C]], %[[S]] : tensor<2049x64xf32>
    // FIRST: td.apply_momentum %{{.*}}, %{{.*}}, %[[H]], %{{.*}} -> (tensor<2049x64xf32>, tensor<2049x64xf32>)
    // SECOND: td.broadcast %{{.*}} : tensor<f32> -> tensor<2048x64xf32>
    // SECOND: td.apply_momentum {{.*}} -> (tensor<2048x64xf32>, tensor<2048x64xf32>)
    // SECOND: td.apply_sgd {{.*}} -> tensor<64xf32>
    %fw = td.broadcast %factor dims [] : tensor<f32> -> tensor<4097x64xf32>
    %cw = td.mul %gw, %fw : tensor<4097x64xf32>
    %half = td.constant dense<0.5> : tensor<4097x64xf32>
    %hw = td.mul %cw, %half : tensor<4097x64xf32>
    %nw, %nm = td.apply_momentum %w, %m, %hw, %lr {momentum = 0.9}
        : (tensor<4097x64xf32>, tensor<4097x64xf32>, tensor<4097x64xf32>, tensor<f32>)
        -> (tensor<4097x64xf32>, tensor<4097x64xf32>)
    %nb = td.apply_sgd %b, %gb, %lr : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    return %nw, %nm, %nb : tensor<4097x64xf32>, tensor<4097x64xf32>, tensor<64xf32>
  }
}

// -----

// An update that needs a sum over all rows keeps its variable on one server.
// CHECK: exec.placement = [#exec.placed_part<variable = "w", server = 0>]
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2, server = SERVER>>} {
  td.variable @w : tensor<4096x64xf32> {trainable}
  func.func @step(%x: tensor<?x4096xf32> {td.input = "x"}, %lr: tensor<f32> {td.scalar = "learning_rate"},
                  %w: tensor<4096x64xf32> {td.variable = @w}) -> (tensor<4096x64xf32> {td.update = @w}) {
    %y = td.matmul %x, %w : tensor<?x4096xf32>, tensor<4096x64xf32> -> tensor<?x64xf32>
    %g = td.matmul %x, %y {transpose_a = true} : tensor<?x4096xf32>, tensor<?x64xf32> -> tensor<4096x64xf32>
    %sum = td.reduce sum, %w axes [0, 1] : tensor<4096x64xf32> -> tensor<f32>
    %factor = td.broadcast %sum dims [] : tensor<f32> -> tensor<4096x64xf32>
    %scaled = td.mul %g, %factor : tensor<4096x64xf32>
    %new = td.apply_sgd %w, %scaled, %lr : (tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<f32>) -> tensor<4096x64xf32>
    return %new : tensor<4096x64xf32>
  }
}
