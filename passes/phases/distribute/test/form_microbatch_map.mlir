// RUN: tandem-opt %s -td-form-microbatch-map -split-input-file | FileCheck %s

// A sum over the batch becomes a reduction over the lanes; work without a batch stays at the top.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<batch = 128>} {
  func.func @step(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
    // CHECK: %[[NW:.*]] = td.neg %{{.*}} : tensor<4xf32>
    // CHECK: %[[M:.*]]:2 = exec.map_microbatches(%{{.*}}, %[[NW]] : tensor<?x4xf32>, tensor<4xf32>)
    // CHECK-SAME: reduce [keep, sum] scope [replica, global] lanes 8 rows 16 microbatch 16
    // CHECK: td.broadcast
    // CHECK: td.mul
    // CHECK: td.reduce sum
    // CHECK: exec.yield
    // CHECK: %[[D:.*]] = td.neg %[[M]]#1
    // CHECK: return %[[D]], %[[M]]#0
    %nw = td.neg %w : tensor<4xf32>
    %b = td.broadcast %nw dims [1] : tensor<4xf32> -> tensor<?x4xf32>
    %y = td.mul %x, %b : tensor<?x4xf32>
    %s = td.reduce sum, %y axes [0] : tensor<?x4xf32> -> tensor<4xf32>
    %d = td.neg %s : tensor<4xf32>
    return %d, %y : tensor<4xf32>, tensor<?x4xf32>
  }
}

// -----

// A statistic that flows back into the batch makes a second map; the centred values cross as a kept result.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], batch = 64>} {
  func.func @step(%x: tensor<?x4xf32>) -> tensor<4xf32> {
    // CHECK: %[[S:.*]]:2 = exec.map_microbatches
    // CHECK-SAME: reduce [keep, sum] scope [replica, replica] lanes 8 rows 16 microbatch 16
    // CHECK: %[[N:.*]] = td.neg %[[S]]#1
    // CHECK: exec.map_microbatches(%[[S]]#0, %[[N]] : tensor<?x4xf32>, tensor<4xf32>)
    // CHECK-SAME: reduce [sum] scope [global]
    // CHECK-NOT: exec.map_microbatches
    %r = td.relu %x : tensor<?x4xf32>
    %s = td.reduce sum, %r axes [0] scope replica : tensor<?x4xf32> -> tensor<4xf32>
    %n = td.neg %s : tensor<4xf32>
    %b = td.broadcast %n dims [1] : tensor<4xf32> -> tensor<?x4xf32>
    %c = td.add %r, %b : tensor<?x4xf32>
    %t = td.reduce sum, %c axes [0] : tensor<?x4xf32> -> tensor<4xf32>
    return %t : tensor<4xf32>
  }
}

// -----

// Constants and values made from nothing are repeated inside, not passed in.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<batch = 4>} {
  func.func @step(%x: tensor<?xf32>) -> tensor<f32> {
    // CHECK: exec.map_microbatches(%{{.*}} : tensor<?xf32>) reduce [sum] scope [global] lanes 4 rows 1 microbatch 1
    // CHECK: ^bb0(%{{.*}}: tensor<?xf32>):
    // CHECK-NEXT: td.constant
    // CHECK-NEXT: td.broadcast
    %one = td.constant dense<1.0> : tensor<f32>
    %ones = td.broadcast %one dims [] : tensor<f32> -> tensor<?xf32>
    %y = td.add %x, %ones : tensor<?xf32>
    %s = td.reduce sum, %y axes [0] : tensor<?xf32> -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// An input that is fetched comes back through a map.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<batch = 8>} {
  func.func @step(%x: tensor<?xi32>) -> tensor<?xi32> {
    // CHECK: %[[M:.*]] = exec.map_microbatches(%arg0 : tensor<?xi32>) reduce [keep]
    // CHECK: exec.copy
    // CHECK: return %[[M]]
    return %x : tensor<?xi32>
  }
}

// -----

// A weight gradient that takes as long to write as to compute gets few lanes; the module says why.
// CHECK: module attributes
// CHECK-SAME: exec.microbatch_choice = "4 lanes of 4 rows in microbatches of 4; one lane's sums take 16 MiB; {{.*}} 8 lanes in microbatches of 2: {{.*}}, 4 lanes in microbatches of 4: {{.*}}"
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], batch = 8, machine_model = "zen4">} {
  func.func @step(%x: tensor<?x2048xf32>, %dy: tensor<?x2048xf32>) -> tensor<2048x2048xf32> {
    // CHECK: exec.map_microbatches
    // CHECK-SAME: lanes 4 rows 4 microbatch 4
    %dw = td.matmul %x, %dy {transpose_a = true} : tensor<?x2048xf32>, tensor<?x2048xf32> -> tensor<2048x2048xf32>
    return %dw : tensor<2048x2048xf32>
  }
}

// -----

// The gradient of a lookup reads all rows at once, behind the map; the map keeps its operands, an input by a copy.
// CHECK-LABEL: func.func @step(%arg0: tensor<?x3x4xf32>, %arg1: tensor<?x3xi32>)
// CHECK: %[[MAP:.*]]:2 = exec.map_microbatches
// CHECK-SAME: reduce [keep, keep]
// CHECK: td.tanh
// CHECK: exec.copy
// CHECK-NOT: td.scatter_add
// CHECK: exec.yield
// CHECK: %[[D:.*]] = td.scatter_add %[[MAP]]#{{[01]}}, %[[MAP]]#{{[01]}}
// CHECK: return %[[D]]
module attributes {exec.config = #exec.config<batch = 16>} {
  func.func @step(%x: tensor<?x3x4xf32>, %i: tensor<?x3xi32>) -> tensor<9x4xf32> {
    %t = td.tanh %x : tensor<?x3x4xf32>
    %d = td.scatter_add %t, %i : (tensor<?x3x4xf32>, tensor<?x3xi32>) -> tensor<9x4xf32>
    return %d : tensor<9x4xf32>
  }
}
