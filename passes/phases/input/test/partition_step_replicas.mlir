// RUN: sed s/TASK/-1/ %s | tandem-opt -td-partition-step | FileCheck %s --check-prefix=WORKER
// RUN: sed s/TASK/0/ %s | tandem-opt -td-partition-step | FileCheck %s --check-prefix=SERVER

// What follows from scalars is computed by whoever reads it. The number of a replica is of the worker's replicas: a
// server has none, and is sent what follows from it.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"],
                                              part = #exec.part<servers = 1, server = TASK>>} {
  td.variable @w : tensor<f32> {trainable}

  // WORKER-LABEL: func.func @step(
  // WORKER-SAME: {td.scalar = "replica_index"}
  // WORKER: td.cross_replica sum
  // SERVER-LABEL: func.func @step(
  // SERVER-NOT: replica_index
  // SERVER: td.sub
  // SERVER-NOT: td.cast
  func.func @step(%i: tensor<i32> {td.scalar = "replica_index"}, %lr: tensor<f32> {td.scalar = "learning_rate"},
                  %w: tensor<f32> {td.variable = @w}) -> (tensor<f32> {td.update = @w}) {
    %own = td.cast %i : tensor<i32> -> tensor<f32>
    %sum = td.cross_replica sum %own : tensor<f32>
    %d = td.mul %sum, %lr : tensor<f32>
    %new = td.sub %w, %d : tensor<f32>
    return %new : tensor<f32>
  }
}
