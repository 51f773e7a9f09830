// RUN: tandem-opt %s | tandem-opt | FileCheck %s

// CHECK-LABEL: func.func @depthwise
// CHECK: td.depthwise_conv2d %arg0, %arg1 strides [2, 1] low [0, 1] high [1, 1] : tensor<?x8x8x4xf32>, tensor<3x3x1x8xf32> -> tensor<?x4x8x8xf32>
// CHECK: td.depthwise_conv2d_input_grad %{{.*}}, %arg1 size [8, 8, 4] strides [2, 1] low [0, 1] high [1, 1]
// CHECK: td.depthwise_conv2d_filter_grad %{{.*}}, %arg0 size [3, 3] strides [2, 1] low [0, 1] high [1, 1]
func.func @depthwise(%x: tensor<?x8x8x4xf32>, %k: tensor<3x3x1x8xf32>) -> (tensor<?x8x8x4xf32>, tensor<3x3x1x8xf32>) {
  %y = td.depthwise_conv2d %x, %k strides [2, 1] low [0, 1] high [1, 1] : tensor<?x8x8x4xf32>, tensor<3x3x1x8xf32> -> tensor<?x4x8x8xf32>
  %dx = td.depthwise_conv2d_input_grad %y, %k size [8, 8, 4] strides [2, 1] low [0, 1] high [1, 1] : tensor<?x4x8x8xf32>, tensor<3x3x1x8xf32> -> tensor<?x8x8x4xf32>
  %dk = td.depthwise_conv2d_filter_grad %y, %x size [3, 3] strides [2, 1] low [0, 1] high [1, 1] : tensor<?x4x8x8xf32>, tensor<?x8x8x4xf32> -> tensor<3x3x1x8xf32>
  return %dx, %dk : tensor<?x8x8x4xf32>, tensor<3x3x1x8xf32>
}
