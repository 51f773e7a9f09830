// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=2 -split-input-file | FileCheck %s

// CHECK-LABEL: @main(
// CHECK: "stablehlo.convolution"(%{{.*}}, %{{.*}}) {batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<{{\[\[}}0, 1], [0, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>], window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}
// CHECK-SAME: : (tensor<2x4x4x3xf32>, tensor<3x2x3x2xf32>) -> tensor<2x2x4x2xf32>
// The image's channels are groups.
// CHECK: "stablehlo.convolution"(
// CHECK-SAME: feature_group_count = 2 : i64
// CHECK-SAME: : (tensor<2x2x4x2xf32>, tensor<2x2x1x4xf32>) -> tensor<2x2x4x4xf32>
func.func @step(%x: tensor<?x4x4x3xf32> {td.input = "x"}, %k: tensor<3x2x3x2xf32> {td.variable = @k},
                %d: tensor<2x2x1x4xf32> {td.variable = @d}) -> (tensor<?x2x4x4xf32> {td.output = "y"}) {
  %0 = td.conv2d %x, %k strides [2, 1] low [0, 0] high [1, 1]
      : tensor<?x4x4x3xf32>, tensor<3x2x3x2xf32> -> tensor<?x2x4x2xf32>
  %1 = td.depthwise_conv2d %0, %d strides [1, 1] low [0, 0] high [1, 1]
      : tensor<?x2x4x2xf32>, tensor<2x2x1x4xf32> -> tensor<?x2x4x4xf32>
  return %1 : tensor<?x2x4x4xf32>
}

// -----

// A gradient to the input: the windows of 8 rows with a pad behind reach all of them.
// CHECK-LABEL: @main(
// CHECK: "stablehlo.convolution"(
// CHECK-SAME: #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>
// CHECK-SAME: lhs_dilation = array<i64: 2, 2>, padding = dense<{{\[\[}}2, 1], [2, 1]]> : tensor<2x2xi64>
// CHECK-SAME: window_reversal = array<i1: true, true>, window_strides = array<i64: 1, 1>
// CHECK-SAME: : (tensor<2x4x4x5xf32>, tensor<3x3x3x5xf32>) -> tensor<2x8x8x3xf32>
func.func @step(%x: tensor<?x4x4x5xf32> {td.input = "x"}, %k: tensor<3x3x3x5xf32> {td.variable = @k})
    -> (tensor<?x8x8x3xf32> {td.output = "y"}) {
  %0 = td.conv2d_input_grad %x, %k size [8, 8] strides [2, 2] low [0, 0] high [1, 1]
      : tensor<?x4x4x5xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x3xf32>
  return %0 : tensor<?x8x8x3xf32>
}

// -----

// CHECK-LABEL: @main(
// CHECK: %[[L:.*]] = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>}
// CHECK: "stablehlo.reduce_window"(%{{.*}}, %[[L]]) ({
// CHECK: "stablehlo.maximum"
// CHECK: }) {padding = dense<{{\[\[}}0, 0], [0, 0], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}
// CHECK-SAME: : (tensor<2x4x4x1xf32>, tensor<f32>) -> tensor<2x2x2x1xf32>
func.func @step(%x: tensor<?x4x4x1xf32> {td.input = "x"}) -> (tensor<?x2x2x1xf32> {td.output = "y"}) {
  %0 = td.max_pool %x window [2, 3] strides [2, 2] low [0, 0] high [0, 1]
      : tensor<?x4x4x1xf32> -> tensor<?x2x2x1xf32>
  return %0 : tensor<?x2x2x1xf32>
}

// -----

// The border is not counted.
// CHECK-LABEL: @main(
// CHECK: %[[N:.*]] = "stablehlo.constant"() {value = dense<{{\[\[}}6.000000e+00, 9.000000e+00, 6.000000e+00], [4.000000e+00, 6.000000e+00, 4.000000e+00]]> : tensor<2x3xf32>}
// CHECK: %[[S:.*]] = "stablehlo.reduce_window"
// CHECK: "stablehlo.add"
// CHECK: %[[D:.*]] = "stablehlo.broadcast_in_dim"(%[[N]]) {broadcast_dimensions = array<i64: 1, 2>}
// CHECK: "stablehlo.divide"(%[[S]], %[[D]])
func.func @step(%x: tensor<?x4x5x1xf32> {td.input = "x"}) -> (tensor<?x2x3x1xf32> {td.output = "y"}) {
  %0 = td.avg_pool %x window [3, 3] strides [2, 2] low [0, 1] high [1, 1]
      : tensor<?x4x5x1xf32> -> tensor<?x2x3x1xf32>
  return %0 : tensor<?x2x3x1xf32>
}
