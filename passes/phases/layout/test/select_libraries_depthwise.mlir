// RUN: tandem-opt %s -td-choose-contractions -td-select-libraries -split-input-file | FileCheck %s

// Generated kernels compute depthwise convolutions together with what is around them.
// CHECK-LABEL: func.func @step(
// CHECK: td.depthwise_conv2d %
// CHECK: td.depthwise_conv2d_input_grad
// CHECK: td.depthwise_conv2d_filter_grad
module attributes {exec.config = #exec.config<target = <backend = cpu, vector_bits = 256>>} {
func.func @step(%x: tensor<?x8x8x16xf32>, %w: tensor<3x3x1x16xf32>) -> (tensor<3x3x1x16xf32>, tensor<f32>) {
  %r:2 = exec.map_microbatches (%x, %w : tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32>) reduce [sum, sum] scope [global, global]
      lanes 1 rows 4 microbatch 4 -> (tensor<3x3x1x16xf32>, tensor<f32>) {
  ^bb0(%xs: tensor<?x8x8x16xf32>, %ws: tensor<3x3x1x16xf32>):
    %y = td.depthwise_conv2d %xs, %ws strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32> -> tensor<?x8x8x16xf32>
    %g = td.depthwise_conv2d_input_grad %y, %ws size [8, 8, 16] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32> -> tensor<?x8x8x16xf32>
    %t = td.reduce sum, %g axes [0, 1, 2, 3] : tensor<?x8x8x16xf32> -> tensor<f32>
    %d = td.depthwise_conv2d_filter_grad %y, %xs size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x16xf32> -> tensor<3x3x1x16xf32>
    exec.yield %d, %t : tensor<3x3x1x16xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<3x3x1x16xf32>, tensor<f32>
}
}

// -----

// On a GPU they have no sums over pixels for each tap: the gradient to the kernel is cuDNN's, of a grouped convolution,
// and its operands are in the library's order.
// CHECK-LABEL: func.func @step(
// CHECK: ^bb0(%[[XS:.*]]: tensor<?x8x8x16xf32>, %[[WS:.*]]: tensor<3x3x1x16xf32>):
// CHECK: %[[Y:.*]] = td.depthwise_conv2d %
// CHECK: td.depthwise_conv2d_input_grad
// CHECK: exec.library_call(%[[XS]], %[[Y]]) #exec.conv2d<direction = filter_grad
// CHECK-SAME: kernel_shape = [3, 3, 1, 16]
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x8x8x16xf32>, %w: tensor<3x3x1x16xf32>) -> (tensor<3x3x1x16xf32>, tensor<f32>) {
  %r:2 = exec.map_microbatches (%x, %w : tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32>) reduce [sum, sum] scope [global, global]
      lanes 1 rows 4 microbatch 4 -> (tensor<3x3x1x16xf32>, tensor<f32>) {
  ^bb0(%xs: tensor<?x8x8x16xf32>, %ws: tensor<3x3x1x16xf32>):
    %y = td.depthwise_conv2d %xs, %ws strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32> -> tensor<?x8x8x16xf32>
    %g = td.depthwise_conv2d_input_grad %y, %ws size [8, 8, 16] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32> -> tensor<?x8x8x16xf32>
    %t = td.reduce sum, %g axes [0, 1, 2, 3] : tensor<?x8x8x16xf32> -> tensor<f32>
    %d = td.depthwise_conv2d_filter_grad %y, %xs size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x16xf32> -> tensor<3x3x1x16xf32>
    exec.yield %d, %t : tensor<3x3x1x16xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<3x3x1x16xf32>, tensor<f32>
}
}

// -----

// Without a batch there is nothing to sum over: a library computes it.
// CHECK-LABEL: func.func @step(
// CHECK: exec.library_call(%arg0, %arg1) #exec.conv2d<
module attributes {exec.config = #exec.config<target = <backend = cpu, vector_bits = 256>>} {
func.func @step(%x: tensor<2x8x8x16xf32>, %w: tensor<3x3x1x16xf32>) -> tensor<2x8x8x16xf32> {
  %y = td.depthwise_conv2d %x, %w strides [1, 1] low [1, 1] high [1, 1] : tensor<2x8x8x16xf32>, tensor<3x3x1x16xf32> -> tensor<2x8x8x16xf32>
  return %y : tensor<2x8x8x16xf32>
}
}
