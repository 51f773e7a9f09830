// RUN: tandem-opt %s -split-input-file | tandem-opt -split-input-file | FileCheck %s
// What is printed can be read, and parameters that have their defaults are left out.

// CHECK: #exec.config<devices = ["cpu:0", "cpu:1"], batch = 8, precision = mixed_bfloat16, precision_lists = <deny = ["matmul"]>, tf32 = true, target = <backend = cuda, sm = 90>>
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], batch = 8, lanes = 0, precision = mixed_bfloat16, precision_lists = <deny = ["matmul"]>, tf32 = true, target = <backend = cuda, sm = 90>>} {
  // CHECK: func.func private @square({{.*}}) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>}
  func.func private @square(%x: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %y = td.mul %x, %x : tensor<?xf32>
    return %y : tensor<?xf32>
  }
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"}, %w: tensor<4xf32> {td.variable = @w}) {
    // CHECK: exec.map_microbatches(%{{.*}} : tensor<?x4xf32>) reduce [sum, keep, max] scope [global, replica, global] lanes 4 rows 2 microbatch 1 -> (tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>) {
    %s, %k, %m = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum, keep, max] scope [global, replica, global] lanes 4 rows 2 microbatch 1 -> (tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %0 = td.reduce sum, %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      %1 = td.reduce max, %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      %2 = exec.copy %xs : tensor<?x4xf32>
      // CHECK: exec.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>
      exec.yield %0, %2, %1 : tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>
    }
    // CHECK: exec.all_reduce mean %{{.*}} {seq = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
    %r = exec.all_reduce mean %s {seq = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
    // CHECK: exec.check_finite %{{.*}} : tensor<4xf32>
    exec.check_finite %r : tensor<4xf32>
    // CHECK: exec.grouped_launch @square x 2(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %a, %b = exec.grouped_launch @square x 2(%w, %r) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return
  }
  // CHECK: exec.replica @replica_0 device("cpu:0") body(@step)
  exec.replica @replica_0 device("cpu:0") body(@step)
}

// -----

// CHECK: #exec.config<>
module attributes {exec.config = #exec.config<>} {}

// -----

// CHECK: #exec.arenas<lane = 64, batch = 4096>
// CHECK-SAME: #exec.buffer<name = "a/b", space = microbatch, offset = 512, bytes = 40, row_bytes = 8, type = tensor<?x2xf32>>
// CHECK-SAME: #exec.fusion_decision<producer_op = "td.relu", producer = "a", consumer_op = "td.neg", consumer = "b", why = "">
// CHECK-SAME: #exec.lane_slot<buffer = 3, kind = max>
// CHECK-SAME: #exec.peak<space = batch, bytes = 4096, live = [#exec.live_buffer<name = "x", bytes = 4096>]>
module attributes {
  test.a = #exec.arenas<microbatch = 0, lane = 64, batch = 4096>,
  test.b = #exec.buffer<name = "a/b", space = microbatch, offset = 512, bytes = 40, row_bytes = 8, type = tensor<?x2xf32>>,
  test.c = #exec.fusion_decision<producer_op = "td.relu", producer = "a", consumer_op = "td.neg", consumer = "b", why = "">,
  test.d = #exec.lane_slot<buffer = 3, kind = max>,
  test.e = #exec.peak<space = batch, bytes = 4096, live = [#exec.live_buffer<name = "x", bytes = 4096>]>
} {}
