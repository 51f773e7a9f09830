// RUN: tandem-opt %s -td-rematerialize -split-input-file | FileCheck %s

// The centred values and their relu come from what the first map keeps: they are computed where they are read, and the
// second map keeps neither.
// CHECK-LABEL: func.func @step
module {
  func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK: %[[A:.*]]:2 = exec.map_microbatches
    %a:2 = exec.map_microbatches (%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) reduce [keep, sum] scope [replica, replica]
        lanes 8 rows 2 microbatch 2 -> (tensor<?x4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>, %ws: tensor<4x4xf32>):
      %y = td.matmul %xs, %ws : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
      %s = td.reduce sum, %y axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %y, %s : tensor<?x4xf32>, tensor<4xf32>
    }
    // CHECK: %[[B:.*]] = exec.map_microbatches(%[[A]]#0, %[[A]]#1 : tensor<?x4xf32>, tensor<4xf32>) reduce [sum]
    // CHECK: exec.yield %{{[^,]*}} : tensor<4xf32>
    %b:3 = exec.map_microbatches (%a#0, %a#1 : tensor<?x4xf32>, tensor<4xf32>) reduce [keep, sum, keep]
        scope [replica, replica, replica] lanes 8 rows 2 microbatch 2 -> (tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) {
    ^bb0(%ys: tensor<?x4xf32>, %ms: tensor<4xf32>):
      %m = td.broadcast %ms dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %c = td.sub %ys, %m : tensor<?x4xf32>
      %s = td.reduce sum, %c axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      %r = td.relu %c : tensor<?x4xf32>
      exec.yield %c, %s, %r : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>
    }
    // CHECK: exec.map_microbatches(%{{.*}} : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>)
    // CHECK: ^bb0(
    // CHECK-DAG: td.broadcast
    // CHECK-DAG: td.sub
    // CHECK-DAG: td.relu
    // CHECK: td.matmul
    %d = exec.map_microbatches (%x, %b#0, %b#2, %b#1 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>)
        reduce [sum] scope [global] lanes 8 rows 2 microbatch 2 -> (tensor<4x4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>, %cs: tensor<?x4xf32>, %rs: tensor<?x4xf32>, %v: tensor<4xf32>):
      %vs = td.broadcast %v dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %n = td.mul %cs, %vs : tensor<?x4xf32>
      %o = td.add %n, %rs : tensor<?x4xf32>
      %g = td.matmul %xs, %o {transpose_a = true} : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<4x4xf32>
      exec.yield %g : tensor<4x4xf32>
    }
    return %d : tensor<4x4xf32>
  }
}

// -----

// Not computed again: what is dear (exp), what has two sources, what leaves the step. The first map keeps all three.
// CHECK-LABEL: func.func @step
module {
  func.func @step(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
    // CHECK: exec.map_microbatches
    // CHECK-SAME: reduce [keep, keep, keep]
    %a:3 = exec.map_microbatches (%x, %y : tensor<?xf32>, tensor<?xf32>) reduce [keep, keep, keep]
        scope [replica, replica, replica] lanes 8 rows 2 microbatch 2 -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    ^bb0(%xs: tensor<?xf32>, %ys: tensor<?xf32>):
      %e = td.exp %xs : tensor<?xf32>
      %t = td.add %xs, %ys : tensor<?xf32>
      %n = td.neg %xs : tensor<?xf32>
      exec.yield %e, %t, %n : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    // CHECK: exec.map_microbatches
    // CHECK-NOT: td.exp
    // CHECK-NOT: td.neg
    %s = exec.map_microbatches (%a#0, %a#1, %a#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) reduce [sum] scope [global]
        lanes 8 rows 2 microbatch 2 -> (tensor<f32>) {
    ^bb0(%es: tensor<?xf32>, %ts: tensor<?xf32>, %ns: tensor<?xf32>):
      %0 = td.mul %es, %ts : tensor<?xf32>
      %1 = td.mul %0, %ns : tensor<?xf32>
      %2 = td.reduce sum, %1 axes [0] : tensor<?xf32> -> tensor<f32>
      exec.yield %2 : tensor<f32>
    }
    return %s, %a#2 : tensor<f32>, tensor<?xf32>
  }
}

// -----

// With a memory limit that the step would not keep, the sum of two inputs is computed again too.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<batch = 16, memory_limit = 64>} {
  func.func @step(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
    // CHECK-NOT: "keep"
    %a:2 = exec.map_microbatches (%x, %y : tensor<?xf32>, tensor<?xf32>) reduce [keep, sum] scope [replica, replica]
        lanes 8 rows 2 microbatch 2 -> (tensor<?xf32>, tensor<f32>) {
    ^bb0(%xs: tensor<?xf32>, %ys: tensor<?xf32>):
      %t = td.add %xs, %ys : tensor<?xf32>
      %1 = td.reduce sum, %t axes [0] : tensor<?xf32> -> tensor<f32>
      exec.yield %t, %1 : tensor<?xf32>, tensor<f32>
    }
    %s = exec.map_microbatches (%a#0, %a#1 : tensor<?xf32>, tensor<f32>) reduce [sum] scope [global] lanes 8 rows 2 microbatch 2
        -> (tensor<f32>) {
    ^bb0(%ts: tensor<?xf32>, %ms: tensor<f32>):
      %m = td.broadcast %ms dims [] : tensor<f32> -> tensor<?xf32>
      %0 = td.mul %ts, %m : tensor<?xf32>
      %2 = td.reduce sum, %0 axes [0] : tensor<?xf32> -> tensor<f32>
      exec.yield %2 : tensor<f32>
    }
    return %s : tensor<f32>
  }
}

// -----

// Mixed precision: the convolution's bfloat16 result is kept, not the float32 that the sums and the next map want.
// CHECK-LABEL: func.func @step
module {
  func.func @step(%x: tensor<?x4xbf16>, %w: tensor<4x4xbf16>) -> tensor<4xf32> {
    // CHECK: %[[A:.*]]:2 = exec.map_microbatches({{.*}} -> (tensor<?x4xbf16>, tensor<4xf32>)
    // CHECK: %[[Y:.*]] = td.matmul
    // CHECK: exec.yield %[[Y]], %{{.*}} : tensor<?x4xbf16>, tensor<4xf32>
    %a:2 = exec.map_microbatches (%x, %w : tensor<?x4xbf16>, tensor<4x4xbf16>) reduce [keep, sum] scope [replica, replica]
        lanes 8 rows 2 microbatch 2 -> (tensor<?x4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xbf16>, %ws: tensor<4x4xbf16>):
      %y = td.matmul %xs, %ws : tensor<?x4xbf16>, tensor<4x4xbf16> -> tensor<?x4xbf16>
      %f = td.cast %y : tensor<?x4xbf16> -> tensor<?x4xf32>
      %s = td.reduce sum, %f axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %f, %s : tensor<?x4xf32>, tensor<4xf32>
    }
    // CHECK: exec.map_microbatches(%[[A]]#0, %[[A]]#1 : tensor<?x4xbf16>, tensor<4xf32>)
    // CHECK: ^bb0(%[[YS:.*]]: tensor<?x4xbf16>, %{{.*}}: tensor<4xf32>):
    // CHECK: %[[F:.*]] = td.cast %[[YS]] : tensor<?x4xbf16> -> tensor<?x4xf32>
    // CHECK: td.sub %[[F]]
    %b = exec.map_microbatches (%a#0, %a#1 : tensor<?x4xf32>, tensor<4xf32>) reduce [sum] scope [replica]
        lanes 8 rows 2 microbatch 2 -> (tensor<4xf32>) {
    ^bb0(%ys: tensor<?x4xf32>, %ms: tensor<4xf32>):
      %m = td.broadcast %ms dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %c = td.sub %ys, %m : tensor<?x4xf32>
      %s = td.reduce sum, %c axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %s : tensor<4xf32>
    }
    return %b : tensor<4xf32>
  }
}

// -----

// The scaled gradient is kept as the bfloat16 that it is made of; so is what it is made of on the way.
// CHECK-LABEL: func.func @step
module {
  func.func @step(%x: tensor<?x4xbf16>, %y: tensor<?x4xbf16>, %w: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[A:.*]]:2 = exec.map_microbatches({{.*}} -> (tensor<4xf32>, tensor<?x4xbf16>)
    // CHECK: %[[M:.*]] = td.max
    // CHECK: exec.yield %{{.*}}, %[[M]] : tensor<4xf32>, tensor<?x4xbf16>
    %a:3 = exec.map_microbatches (%x, %y, %w : tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) reduce [keep, sum, keep]
        scope [replica, replica, replica] lanes 8 rows 2 microbatch 2 -> (tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) {
    ^bb0(%xs: tensor<?x4xbf16>, %ys: tensor<?x4xbf16>, %ws: tensor<4xf32>):
      %m = td.max %xs, %ys : tensor<?x4xbf16>
      %f = td.cast %m : tensor<?x4xbf16> -> tensor<?x4xf32>
      %b = td.broadcast %ws dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %g = td.mul %f, %b : tensor<?x4xf32>
      %s = td.reduce sum, %g axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %g, %s, %f : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>
    }
    // CHECK: exec.map_microbatches(
    // CHECK-SAME: bf16
    // CHECK-NOT: tensor<?x4xf32>,
    // CHECK: ^bb0(
    // CHECK-DAG: td.cast
    // CHECK-DAG: td.mul
    // CHECK: td.sub
    %c = exec.map_microbatches (%a#0, %a#1, %a#2 : tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) reduce [sum] scope [replica]
        lanes 8 rows 2 microbatch 2 -> (tensor<4xf32>) {
    ^bb0(%gs: tensor<?x4xf32>, %ms: tensor<4xf32>, %fs: tensor<?x4xf32>):
      %m = td.broadcast %ms dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %d = td.sub %gs, %m : tensor<?x4xf32>
      %e = td.add %d, %fs : tensor<?x4xf32>
      %s = td.reduce sum, %e axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %s : tensor<4xf32>
    }
    return %c : tensor<4xf32>
  }
}
