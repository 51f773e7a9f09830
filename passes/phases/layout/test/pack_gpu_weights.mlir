// RUN: tandem-opt %s -td-select-libraries -cse -split-input-file | FileCheck %s

// cuDNN takes kernels in a layout of its own, the same forward and backward: one packing at the top of the step serves
// both. The filter gradient packs nothing, and a convolution that is a matrix product takes its kernel as it is.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<?x8x8x16xf32>, %[[W:.*]]: tensor<3x3x16x32xf32>, %[[V:.*]]: tensor<1x1x32x8xf32>
// CHECK: %[[P:.*]] = exec.library_call(%[[W]]) #exec.pack_weights<{{.*}}as "kernel"
// CHECK-SAME: -> tensor<4608xf32>
// CHECK-NOT: pack_weights
// CHECK: exec.map_microbatches(%[[X]], %[[V]], %[[P]], %[[P]]
// CHECK: ^bb0(%[[XS:.*]]: tensor<?x8x8x16xf32>, %[[VS:.*]]: tensor<1x1x32x8xf32>, %[[P1:.*]]: tensor<4608xf32>, %[[P2:.*]]: tensor<4608xf32>):
// CHECK: %[[Y:.*]] = exec.library_call(%[[XS]], %[[P1]]) #exec.conv2d<{{.*}}packed = true
// CHECK: exec.library_call(%[[Y]], %[[VS]]) #exec.conv2d<
// CHECK: exec.library_call(%[[Y]], %[[P2]]) #exec.conv2d<direction = input_grad{{.*}}packed = true
// CHECK: exec.library_call(%[[XS]], %[[Y]]) #exec.conv2d<direction = filter_grad
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x8x8x16xf32>, %w: tensor<3x3x16x32xf32>, %v: tensor<1x1x32x8xf32>) -> (tensor<3x3x16x32xf32>, tensor<f32>) {
  %r:2 = exec.map_microbatches (%x, %w, %v : tensor<?x8x8x16xf32>, tensor<3x3x16x32xf32>, tensor<1x1x32x8xf32>) reduce [sum, sum] scope [global, global]
      lanes 1 rows 4 microbatch 4 -> (tensor<3x3x16x32xf32>, tensor<f32>) {
  ^bb0(%xs: tensor<?x8x8x16xf32>, %ws: tensor<3x3x16x32xf32>, %vs: tensor<1x1x32x8xf32>):
    %y = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xf32>, tensor<3x3x16x32xf32> -> tensor<?x6x6x32xf32>
    %z = td.conv2d %y, %vs strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x32xf32>, tensor<1x1x32x8xf32> -> tensor<?x6x6x8xf32>
    %s = td.reduce sum, %z axes [0, 1, 2, 3] : tensor<?x6x6x8xf32> -> tensor<f32>
    %g = td.conv2d_input_grad %y, %ws size [8, 8] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x32xf32>, tensor<3x3x16x32xf32> -> tensor<?x8x8x16xf32>
    %t = td.reduce sum, %g axes [0, 1, 2, 3] : tensor<?x8x8x16xf32> -> tensor<f32>
    %u = td.add %s, %t : tensor<f32>
    %d = td.conv2d_filter_grad %xs, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xf32>, tensor<?x6x6x32xf32> -> tensor<3x3x16x32xf32>
    exec.yield %d, %u : tensor<3x3x16x32xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<3x3x16x32xf32>, tensor<f32>
}
}

// -----

// A kernel that becomes bfloat16 is rounded and packed in one go; results in float32 in one direction make no difference.
// Nobody else reads it rounded.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x3x16x32xf32>
// CHECK-NOT: td.cast
// CHECK: exec.library_call(%[[W]]) #exec.pack_weights<reader = #exec.conv2d<x_shape{{.*}}kernel_dtype = bf16
// CHECK-SAME: as "kernel"
// CHECK-SAME: (tensor<3x3x16x32xf32>) -> tensor<2304xf32>
// CHECK-NOT: pack_weights
// CHECK: exec.library_call({{.*}}) #exec.conv2d<direction = input_grad
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x8x8x16xbf16>, %w: tensor<3x3x16x32xf32>) -> tensor<f32> {
  %c = td.cast %w : tensor<3x3x16x32xf32> -> tensor<3x3x16x32xbf16>
  %r = exec.map_microbatches (%x, %c : tensor<?x8x8x16xbf16>, tensor<3x3x16x32xbf16>) reduce [sum] scope [global]
      lanes 1 rows 4 microbatch 4 -> (tensor<f32>) {
  ^bb0(%xs: tensor<?x8x8x16xbf16>, %ws: tensor<3x3x16x32xbf16>):
    %y = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xbf16>, tensor<3x3x16x32xbf16> -> tensor<?x6x6x32xbf16>
    %g = td.conv2d_input_grad %y, %ws size [8, 8] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x6x6x32xbf16>, tensor<3x3x16x32xbf16> -> tensor<?x8x8x16xf32>
    %t = td.reduce sum, %g axes [0, 1, 2, 3] : tensor<?x8x8x16xf32> -> tensor<f32>
    exec.yield %t : tensor<f32>
  }
  return %r : tensor<f32>
}
}
