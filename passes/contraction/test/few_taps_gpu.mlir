// RUN: tandem-opt %s -td-choose-contractions -td-lower-contractions -split-input-file | FileCheck %s

// On GPUs sums of up to 32 taps are in registers: a grey image's and, other than its convolution, a picture's. With
// tensor cores (below) those of up to 16.
// CHECK-LABEL: func.func @step
// CHECK: ^bb0(%[[X:.*]]: tensor<?x28x28x1xf32>, %[[DY:.*]]: tensor<?x26x26x32xf32>, %[[P:.*]]: tensor<?x8x8x3xf32>, %[[K:.*]]: tensor<3x3x3x64xf32>, %[[DP:.*]]: tensor<?x8x8x64xf32>):
// CHECK: exec.contraction conv2d_filter_grad %[[DY]], %[[X]] by few_taps size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
// CHECK: td.conv2d %[[P]], %[[K]]
// CHECK: exec.contraction conv2d_filter_grad %[[DP]], %[[P]] by few_taps size [3, 3] strides [1, 1] low [1, 1] high [1, 1]
// CHECK-NOT: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<precision = strict_float32, target = <backend = cuda, sm = 90>>} {
  func.func @step(%x: tensor<?x28x28x1xf32>, %dy: tensor<?x26x26x32xf32>, %p: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x64xf32>, %dp: tensor<?x8x8x64xf32>)
      -> (tensor<3x3x1x32xf32>, tensor<?x8x8x64xf32>, tensor<3x3x3x64xf32>) {
    %r:3 = exec.map_microbatches (%x, %dy, %p, %k, %dp : tensor<?x28x28x1xf32>, tensor<?x26x26x32xf32>, tensor<?x8x8x3xf32>, tensor<3x3x3x64xf32>, tensor<?x8x8x64xf32>)
        reduce [sum, keep, sum] scope [global, global, global] lanes 1 rows 64 microbatch 64 -> (tensor<3x3x1x32xf32>, tensor<?x8x8x64xf32>, tensor<3x3x3x64xf32>) {
    ^bb0(%xs: tensor<?x28x28x1xf32>, %dys: tensor<?x26x26x32xf32>, %ps: tensor<?x8x8x3xf32>, %ks: tensor<3x3x3x64xf32>, %dps: tensor<?x8x8x64xf32>):
      %0 = td.conv2d_filter_grad %xs, %dys size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x28x28x1xf32>, tensor<?x26x26x32xf32> -> tensor<3x3x1x32xf32>
      %1 = td.conv2d %ps, %ks strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<3x3x3x64xf32> -> tensor<?x8x8x64xf32>
      %2 = td.conv2d_filter_grad %ps, %dps size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x8x8x64xf32> -> tensor<3x3x3x64xf32>
      exec.yield %0, %1, %2 : tensor<3x3x1x32xf32>, tensor<?x8x8x64xf32>, tensor<3x3x3x64xf32>
    }
    return %r#0, %r#1, %r#2 : tensor<3x3x1x32xf32>, tensor<?x8x8x64xf32>, tensor<3x3x3x64xf32>
  }
}

// -----

// More taps are the library's, and so are more channels in, few channels out, and what the user wants in bfloat16.
// CHECK: exec.contractions = [
// CHECK-SAME: algorithm = few_taps>, why_not = "147 taps are more than 32"
// CHECK-SAME: algorithm = few_taps>, why_not = "8 channels in are more than 4"
// CHECK-SAME: algorithm = few_taps>, why_not = "4 channels out are fewer than 8"
// CHECK-SAME: algorithm = few_taps>, why_not = "it computes in float32"
// CHECK-LABEL: func.func @step
// CHECK-COUNT-4: td.conv2d_filter_grad
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<precision = strict_float32, target = <backend = cuda, sm = 90>>} {
  func.func @step(%p: tensor<?x14x14x3xf32>, %dp: tensor<?x7x7x64xf32>, %x: tensor<?x8x8x8xf32>, %dy: tensor<?x8x8x32xf32>,
                  %g: tensor<?x8x8x1xf32>, %dg: tensor<?x8x8x4xf32>, %b: tensor<?x8x8x1xbf16>, %db: tensor<?x8x8x32xbf16>)
      -> (tensor<7x7x3x64xf32>, tensor<2x2x8x32xf32>, tensor<3x3x1x4xf32>, tensor<3x3x1x32xf32>) {
    %r:4 = exec.map_microbatches (%p, %dp, %x, %dy, %g, %dg, %b, %db : tensor<?x14x14x3xf32>, tensor<?x7x7x64xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x32xf32>, tensor<?x8x8x1xf32>, tensor<?x8x8x4xf32>, tensor<?x8x8x1xbf16>, tensor<?x8x8x32xbf16>)
        reduce [sum, sum, sum, sum] scope [global, global, global, global] lanes 1 rows 64 microbatch 64 -> (tensor<7x7x3x64xf32>, tensor<2x2x8x32xf32>, tensor<3x3x1x4xf32>, tensor<3x3x1x32xf32>) {
    ^bb0(%ps: tensor<?x14x14x3xf32>, %dps: tensor<?x7x7x64xf32>, %xs: tensor<?x8x8x8xf32>, %dys: tensor<?x8x8x32xf32>, %gs: tensor<?x8x8x1xf32>, %dgs: tensor<?x8x8x4xf32>, %bs: tensor<?x8x8x1xbf16>, %dbs: tensor<?x8x8x32xbf16>):
      %0 = td.conv2d_filter_grad %ps, %dps size [7, 7] strides [2, 2] low [2, 2] high [3, 3] : tensor<?x14x14x3xf32>, tensor<?x7x7x64xf32> -> tensor<7x7x3x64xf32> loc("a")
      %1 = td.conv2d_filter_grad %xs, %dys size [2, 2] strides [1, 1] low [0, 0] high [1, 1] : tensor<?x8x8x8xf32>, tensor<?x8x8x32xf32> -> tensor<2x2x8x32xf32> loc("b")
      %2 = td.conv2d_filter_grad %gs, %dgs size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x1xf32>, tensor<?x8x8x4xf32> -> tensor<3x3x1x4xf32> loc("c")
      %3 = td.conv2d_filter_grad %bs, %dbs size [3, 3] strides [1, 1] low [1, 1] high [1, 1] {f32_result} : tensor<?x8x8x1xbf16>, tensor<?x8x8x32xbf16> -> tensor<3x3x1x32xf32> loc("d")
      exec.yield %0, %1, %2, %3 : tensor<7x7x3x64xf32>, tensor<2x2x8x32xf32>, tensor<3x3x1x4xf32>, tensor<3x3x1x32xf32>
    }
    return %r#0, %r#1, %r#2, %r#3 : tensor<7x7x3x64xf32>, tensor<2x2x8x32xf32>, tensor<3x3x1x4xf32>, tensor<3x3x1x32xf32>
  }
}

// -----

// CHECK: algorithm = few_taps>, why_not = "a library multiplies 27 taps, more than 16, on tensor cores"
// CHECK-LABEL: func.func @step
// CHECK: exec.contraction conv2d_filter_grad
// CHECK: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<tf32 = true, target = <backend = cuda, sm = 90>>} {
  func.func @step(%x: tensor<?x28x28x1xf32>, %dy: tensor<?x26x26x32xf32>, %p: tensor<?x8x8x3xf32>, %dp: tensor<?x8x8x64xf32>)
      -> (tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>) {
    %r:2 = exec.map_microbatches (%x, %dy, %p, %dp : tensor<?x28x28x1xf32>, tensor<?x26x26x32xf32>, tensor<?x8x8x3xf32>, tensor<?x8x8x64xf32>)
        reduce [sum, sum] scope [global, global] lanes 1 rows 64 microbatch 64 -> (tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>) {
    ^bb0(%xs: tensor<?x28x28x1xf32>, %dys: tensor<?x26x26x32xf32>, %ps: tensor<?x8x8x3xf32>, %dps: tensor<?x8x8x64xf32>):
      %0 = td.conv2d_filter_grad %xs, %dys size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x28x28x1xf32>, tensor<?x26x26x32xf32> -> tensor<3x3x1x32xf32> loc("grey")
      %1 = td.conv2d_filter_grad %ps, %dps size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x8x8x64xf32> -> tensor<3x3x3x64xf32> loc("picture")
      exec.yield %0, %1 : tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>
    }
    return %r#0, %r#1 : tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>
  }
}

// -----

// CHECK: algorithm = few_taps>, why_not = "a library multiplies 27 taps, more than 16, on tensor cores"
// CHECK-LABEL: func.func @step
// CHECK: exec.contraction conv2d_filter_grad
// CHECK: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, target = <backend = cuda, sm = 90>>} {
  func.func @step(%x: tensor<?x28x28x1xf32>, %dy: tensor<?x26x26x32xf32>, %p: tensor<?x8x8x3xf32>, %dp: tensor<?x8x8x64xf32>)
      -> (tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>) {
    %r:2 = exec.map_microbatches (%x, %dy, %p, %dp : tensor<?x28x28x1xf32>, tensor<?x26x26x32xf32>, tensor<?x8x8x3xf32>, tensor<?x8x8x64xf32>)
        reduce [sum, sum] scope [global, global] lanes 1 rows 64 microbatch 64 -> (tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>) {
    ^bb0(%xs: tensor<?x28x28x1xf32>, %dys: tensor<?x26x26x32xf32>, %ps: tensor<?x8x8x3xf32>, %dps: tensor<?x8x8x64xf32>):
      %0 = td.conv2d_filter_grad %xs, %dys size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x28x28x1xf32>, tensor<?x26x26x32xf32> -> tensor<3x3x1x32xf32> loc("grey")
      %1 = td.conv2d_filter_grad %ps, %dps size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x8x8x64xf32> -> tensor<3x3x3x64xf32> loc("picture")
      exec.yield %0, %1 : tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>
    }
    return %r#0, %r#1 : tensor<3x3x1x32xf32>, tensor<3x3x3x64xf32>
  }
}
