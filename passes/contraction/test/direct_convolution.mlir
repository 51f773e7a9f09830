// RUN: tandem-opt %s -td-choose-contractions -td-lower-contractions -split-input-file | FileCheck %s

// One input channel: nine taps. The gradient to the kernel sums over dy's elements.
// CHECK-LABEL: func.func @step
// CHECK: ^bb0(%[[X:.*]]: tensor<?x8x8x1xf32>, %[[K:.*]]: tensor<3x3x1x32xf32>, %[[DY:.*]]: tensor<?x8x8x32xf32>):
// CHECK: exec.contraction conv2d %[[X]], %[[K]] by few_taps strides [1, 1] low [1, 1] high [1, 1]
// CHECK: exec.contraction conv2d_filter_grad %[[DY]], %[[X]] by few_taps size [3, 3] strides [1, 1] low [1, 1] high [1, 1]
// CHECK-NOT: td.conv2d
func.func @step(%x: tensor<?x8x8x1xf32>, %k: tensor<3x3x1x32xf32>, %dy: tensor<?x8x8x32xf32>)
    -> (tensor<?x8x8x32xf32>, tensor<3x3x1x32xf32>) {
  %r:2 = exec.map_microbatches (%x, %k, %dy : tensor<?x8x8x1xf32>, tensor<3x3x1x32xf32>, tensor<?x8x8x32xf32>)
      reduce [keep, sum] scope [global, global] lanes 4 rows 8 microbatch 8 -> (tensor<?x8x8x32xf32>, tensor<3x3x1x32xf32>) {
  ^bb0(%xs: tensor<?x8x8x1xf32>, %ks: tensor<3x3x1x32xf32>, %dys: tensor<?x8x8x32xf32>):
    %y = td.conv2d %xs, %ks strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x1xf32>, tensor<3x3x1x32xf32> -> tensor<?x8x8x32xf32>
    %dk = td.conv2d_filter_grad %xs, %dys size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x1xf32>, tensor<?x8x8x32xf32> -> tensor<3x3x1x32xf32>
    exec.yield %y, %dk : tensor<?x8x8x32xf32>, tensor<3x3x1x32xf32>
  }
  return %r#0, %r#1 : tensor<?x8x8x32xf32>, tensor<3x3x1x32xf32>
}

// -----

// A picture: more taps, but not in the gradient to the kernel.
// CHECK-LABEL: func.func @step
// CHECK: exec.contraction conv2d %
// CHECK: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<precision = strict_float32>} {
  func.func @step(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x32xf32>, %dy: tensor<?x8x8x32xf32>)
      -> (tensor<?x8x8x32xf32>, tensor<3x3x3x32xf32>) {
    %r:2 = exec.map_microbatches (%x, %k, %dy : tensor<?x8x8x3xf32>, tensor<3x3x3x32xf32>, tensor<?x8x8x32xf32>)
        reduce [keep, sum] scope [global, global] lanes 4 rows 8 microbatch 8 -> (tensor<?x8x8x32xf32>, tensor<3x3x3x32xf32>) {
    ^bb0(%xs: tensor<?x8x8x3xf32>, %ks: tensor<3x3x3x32xf32>, %dys: tensor<?x8x8x32xf32>):
      %y = td.conv2d %xs, %ks strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<3x3x3x32xf32> -> tensor<?x8x8x32xf32>
      %dk = td.conv2d_filter_grad %xs, %dys size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x8x8x32xf32> -> tensor<3x3x3x32xf32>
      exec.yield %y, %dk : tensor<?x8x8x32xf32>, tensor<3x3x3x32xf32>
    }
    return %r#0, %r#1 : tensor<?x8x8x32xf32>, tensor<3x3x3x32xf32>
  }
}

// -----

// Many taps, few output channels, no batch: the library's. And a bfloat16 image: its gradient to the kernel is float32
// in a library call alone.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-3: td.conv2d %
// CHECK: td.conv2d_filter_grad
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<precision = strict_float32>} {
  func.func @step(%x: tensor<?x8x8x5xf32>, %k: tensor<3x3x5x32xf32>, %g: tensor<?x8x8x1xf32>, %thin: tensor<3x3x1x4xf32>,
                  %one: tensor<1x8x8x1xf32>, %wide: tensor<3x3x1x32xf32>, %b: tensor<?x8x8x1xbf16>, %dy: tensor<?x8x8x32xbf16>)
      -> (tensor<?x6x6x32xf32>, tensor<?x6x6x4xf32>, tensor<1x6x6x32xf32>, tensor<3x3x1x32xf32>) {
    %2 = td.conv2d %one, %wide strides [1, 1] low [0, 0] high [0, 0] : tensor<1x8x8x1xf32>, tensor<3x3x1x32xf32> -> tensor<1x6x6x32xf32>
    %r:3 = exec.map_microbatches (%x, %k, %g, %thin, %b, %dy : tensor<?x8x8x5xf32>, tensor<3x3x5x32xf32>, tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32>, tensor<?x8x8x1xbf16>, tensor<?x8x8x32xbf16>)
        reduce [keep, keep, sum] scope [global, global, global] lanes 4 rows 8 microbatch 8 -> (tensor<?x6x6x32xf32>, tensor<?x6x6x4xf32>, tensor<3x3x1x32xf32>) {
    ^bb0(%xs: tensor<?x8x8x5xf32>, %ks: tensor<3x3x5x32xf32>, %gs: tensor<?x8x8x1xf32>, %thins: tensor<3x3x1x4xf32>, %bs: tensor<?x8x8x1xbf16>, %dys: tensor<?x8x8x32xbf16>):
      %0 = td.conv2d %xs, %ks strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x5xf32>, tensor<3x3x5x32xf32> -> tensor<?x6x6x32xf32>
      %1 = td.conv2d %gs, %thins strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
      %dk = td.conv2d_filter_grad %bs, %dys size [3, 3] strides [1, 1] low [1, 1] high [1, 1] {f32_result} : tensor<?x8x8x1xbf16>, tensor<?x8x8x32xbf16> -> tensor<3x3x1x32xf32>
      exec.yield %0, %1, %dk : tensor<?x6x6x32xf32>, tensor<?x6x6x4xf32>, tensor<3x3x1x32xf32>
    }
    return %r#0, %r#1, %2, %r#2 : tensor<?x6x6x32xf32>, tensor<?x6x6x4xf32>, tensor<1x6x6x32xf32>, tensor<3x3x1x32xf32>
  }
}

// -----

// A line of a picture too wide for a thread's stack, as sound has: the library's. Of few taps it is a part of any kernel.
// CHECK: why_not = "lines of so wide an image take 1600320 bytes of a thread's stack, more than 524288"
// CHECK-LABEL: func.func @step
// CHECK: td.conv2d %
// CHECK: exec.contraction conv2d %
func.func @step(%x: tensor<?x1x400000x1xf32>, %k: tensor<1x80x1x32xf32>, %few: tensor<1x9x1x32xf32>)
    -> (tensor<?x1x100001x32xf32>, tensor<?x1x400000x32xf32>) {
  %r:2 = exec.map_microbatches (%x, %k, %few : tensor<?x1x400000x1xf32>, tensor<1x80x1x32xf32>, tensor<1x9x1x32xf32>)
      reduce [keep, keep] scope [global, global] lanes 4 rows 8 microbatch 8 -> (tensor<?x1x100001x32xf32>, tensor<?x1x400000x32xf32>) {
  ^bb0(%xs: tensor<?x1x400000x1xf32>, %ks: tensor<1x80x1x32xf32>, %fews: tensor<1x9x1x32xf32>):
    %y = td.conv2d %xs, %ks strides [1, 4] low [0, 40] high [0, 40] : tensor<?x1x400000x1xf32>, tensor<1x80x1x32xf32> -> tensor<?x1x100001x32xf32> loc("sound")
    %z = td.conv2d %xs, %fews strides [1, 1] low [0, 4] high [0, 4] : tensor<?x1x400000x1xf32>, tensor<1x9x1x32xf32> -> tensor<?x1x400000x32xf32>
    exec.yield %y, %z : tensor<?x1x100001x32xf32>, tensor<?x1x400000x32xf32>
  }
  return %r#0, %r#1 : tensor<?x1x100001x32xf32>, tensor<?x1x400000x32xf32>
}
