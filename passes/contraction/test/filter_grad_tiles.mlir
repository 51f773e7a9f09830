// RUN: tandem-opt %s -td-choose-contractions -td-lower-contractions -split-input-file | FileCheck %s

// Only with a matrix unit.
module attributes {exec.config = #exec.config<precision = strict_float32, target = <bfloat16_tiles = true>>} {
// The gradient of S0's second layer, and of a small kernel of one place. Not: three channels, a float32 image.
// CHECK-LABEL: func.func @step(
// CHECK: exec.map_microbatches
// CHECK: ^bb0(%[[X:.*]]: tensor<?x13x13x32xbf16>, %[[DY:.*]]: tensor<?x11x11x64xbf16>, %[[T:.*]]: tensor<?x13x13x3xbf16>, %[[F:.*]]: tensor<?x13x13x32xf32>):
// CHECK: %[[DK:.*]], %{{.*}} = exec.contraction conv2d_filter_grad %[[X]], %[[DY]] by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<{{[0-9]+}}xui8>)
// CHECK: %[[ONE:.*]], %{{.*}} = exec.contraction conv2d_filter_grad %[[X]], %[[X]] by filter_grad_tiles size [1, 1]
// CHECK: %[[THREE:.*]] = td.conv2d_filter_grad %[[T]], %[[DY]]
// CHECK: %[[FLOAT:.*]] = td.conv2d_filter_grad %[[F]], %{{.*}} size [3, 3]
// CHECK: exec.yield %[[DK]], %[[ONE]], %[[THREE]], %[[FLOAT]]
func.func @step(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>, %t: tensor<?x13x13x3xbf16>, %f: tensor<?x13x13x32xf32>)
    -> (tensor<3x3x32x64xf32>, tensor<1x1x32x32xf32>, tensor<3x3x3x64xf32>, tensor<3x3x32x32xf32>) {
  %r:4 = exec.map_microbatches (%x, %dy, %t, %f : tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>, tensor<?x13x13x3xbf16>, tensor<?x13x13x32xf32>)
      reduce [sum, sum, sum, sum] scope [global, global, global, global] lanes 16 rows 32 microbatch 32
      -> (tensor<3x3x32x64xf32>, tensor<1x1x32x32xf32>, tensor<3x3x3x64xf32>, tensor<3x3x32x32xf32>) {
  ^bb0(%xs: tensor<?x13x13x32xbf16>, %ds: tensor<?x11x11x64xbf16>, %ts: tensor<?x13x13x3xbf16>, %fs: tensor<?x13x13x32xf32>):
    %a = td.conv2d_filter_grad %xs, %ds size [3, 3] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16> -> tensor<3x3x32x64xf32>
    %b = td.conv2d_filter_grad %xs, %xs size [1, 1] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x13x13x32xbf16>, tensor<?x13x13x32xbf16> -> tensor<1x1x32x32xf32>
    %c = td.conv2d_filter_grad %ts, %ds size [3, 3] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x13x13x3xbf16>, tensor<?x11x11x64xbf16> -> tensor<3x3x3x64xf32>
    %d = td.conv2d_filter_grad %fs, %fs size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x13x13x32xf32>, tensor<?x13x13x32xf32> -> tensor<3x3x32x32xf32>
    exec.yield %a, %b, %c, %d : tensor<3x3x32x64xf32>, tensor<1x1x32x32xf32>, tensor<3x3x3x64xf32>, tensor<3x3x32x32xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<3x3x32x64xf32>, tensor<1x1x32x32xf32>, tensor<3x3x3x64xf32>, tensor<3x3x32x32xf32>
}
}

// -----

// CHECK-LABEL: func.func @step(
// CHECK-NOT: exec.contraction {{[a-z]}}
// CHECK: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<precision = strict_float32>} {
func.func @step(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) -> tensor<3x3x32x64xf32> {
  %r = exec.map_microbatches (%x, %dy : tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) reduce [sum] scope [global] lanes 16 rows 32 microbatch 32 -> (tensor<3x3x32x64xf32>) {
  ^bb0(%xs: tensor<?x13x13x32xbf16>, %ds: tensor<?x11x11x64xbf16>):
    %a = td.conv2d_filter_grad %xs, %ds size [3, 3] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16> -> tensor<3x3x32x64xf32>
    exec.yield %a : tensor<3x3x32x64xf32>
  }
  return %r : tensor<3x3x32x64xf32>
}
}

// -----

// A product of large matrices.
module attributes {exec.config = #exec.config<precision = strict_float32, target = <bfloat16_tiles = true>>} {
// CHECK-LABEL: func.func @step(
// CHECK-NOT: exec.contraction {{[a-z]}}
// CHECK: td.conv2d_filter_grad
func.func @step(%x: tensor<?x7x7x1024xbf16>, %dy: tensor<?x7x7x1040xbf16>) -> tensor<1x1x1024x1040xf32> {
  %r = exec.map_microbatches (%x, %dy : tensor<?x7x7x1024xbf16>, tensor<?x7x7x1040xbf16>) reduce [sum] scope [global]
      lanes 4 rows 4 microbatch 4 -> (tensor<1x1x1024x1040xf32>) {
  ^bb0(%xs: tensor<?x7x7x1024xbf16>, %ds: tensor<?x7x7x1040xbf16>):
    %a = td.conv2d_filter_grad %xs, %ds size [1, 1] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x7x7x1024xbf16>, tensor<?x7x7x1040xbf16> -> tensor<1x1x1024x1040xf32>
    exec.yield %a : tensor<1x1x1024x1040xf32>
  }
  return %r : tensor<1x1x1024x1040xf32>
}
}
