// RUN: tandem-opt %s -td-expand-small-convolution -split-input-file | FileCheck %s

// One input channel: nine taps. The gradient to the kernel sums over dy's elements.
// CHECK-LABEL: func.func @grey
// CHECK: exec.direct_conv2d %arg0, %arg1 strides [1, 1] low [1, 1] high [1, 1]
// CHECK: exec.direct_conv2d_filter_grad %arg2, %arg0 size [3, 3] strides [1, 1] low [1, 1] high [1, 1]
// CHECK-NOT: td.conv2d
func.func @grey(%x: tensor<?x8x8x1xf32>, %k: tensor<3x3x1x32xf32>, %dy: tensor<?x8x8x32xf32>)
    -> (tensor<?x8x8x32xf32>, tensor<3x3x1x32xf32>) {
  %y = td.conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x1xf32>, tensor<3x3x1x32xf32> -> tensor<?x8x8x32xf32>
  %dk = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x1xf32>, tensor<?x8x8x32xf32> -> tensor<3x3x1x32xf32>
  return %y, %dk : tensor<?x8x8x32xf32>, tensor<3x3x1x32xf32>
}

// -----

// A picture: more taps, but not in the gradient to the kernel.
// CHECK-LABEL: func.func @picture
// CHECK: exec.direct_conv2d %arg0
// CHECK: td.conv2d_filter_grad
func.func @picture(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x32xf32>, %dy: tensor<?x8x8x32xf32>)
    -> (tensor<?x8x8x32xf32>, tensor<3x3x3x32xf32>) {
  %y = td.conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<3x3x3x32xf32> -> tensor<?x8x8x32xf32>
  %dk = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x8x8x32xf32> -> tensor<3x3x3x32xf32>
  return %y, %dk : tensor<?x8x8x32xf32>, tensor<3x3x3x32xf32>
}

// -----

// Many taps, few output channels, no batch: the library's.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: td.conv2d
// CHECK-NOT: exec.direct_conv2d
func.func @others(%x: tensor<?x8x8x5xf32>, %k: tensor<3x3x5x32xf32>, %g: tensor<?x8x8x1xf32>, %thin: tensor<3x3x1x4xf32>,
                  %one: tensor<1x8x8x1xf32>, %wide: tensor<3x3x1x32xf32>)
    -> (tensor<?x6x6x32xf32>, tensor<?x6x6x4xf32>, tensor<1x6x6x32xf32>) {
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x5xf32>, tensor<3x3x5x32xf32> -> tensor<?x6x6x32xf32>
  %1 = td.conv2d %g, %thin strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x1xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  %2 = td.conv2d %one, %wide strides [1, 1] low [0, 0] high [0, 0] : tensor<1x8x8x1xf32>, tensor<3x3x1x32xf32> -> tensor<1x6x6x32xf32>
  return %0, %1, %2 : tensor<?x6x6x32xf32>, tensor<?x6x6x4xf32>, tensor<1x6x6x32xf32>
}

// -----

// A bfloat16 image: its gradient to the kernel is float32 in a library call alone.
// CHECK-LABEL: func.func @bfloat16
// CHECK: td.conv2d_filter_grad
// CHECK-NOT: exec.direct_conv2d
func.func @bfloat16(%x: tensor<?x8x8x1xbf16>, %dy: tensor<?x8x8x32xbf16>) -> tensor<3x3x1x32xf32> {
  %dk = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [1, 1] high [1, 1] {f32_result} : tensor<?x8x8x1xbf16>, tensor<?x8x8x32xbf16> -> tensor<3x3x1x32xf32>
  return %dk : tensor<3x3x1x32xf32>
}
