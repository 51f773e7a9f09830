// RUN: tandem-opt %s -td-choose-contractions -td-expand-contractions -split-input-file | FileCheck %s

// One output channel, with AVX2: the gradient of a depthwise convolution to copies of it.
// CHECK-LABEL: func.func @step
// CHECK: %[[FLAT:.*]] = td.reshape %arg1 : tensor<?x8x8x1xf32> -> tensor<?x8x8xf32>
// CHECK: %[[COPIES:.*]] = td.broadcast %[[FLAT]] dims [0, 1, 2] : tensor<?x8x8xf32> -> tensor<?x8x8x16xf32>
// CHECK: %[[GRAD:.*]] = td.depthwise_conv2d_filter_grad %[[COPIES]], %arg0 size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : {{.*}} -> tensor<3x3x1x16xf32>
// CHECK: td.reshape %[[GRAD]] : tensor<3x3x1x16xf32> -> tensor<3x3x16x1xf32>
module attributes {exec.config = #exec.config<target = <vector_bits = 256>>} {
func.func @step(%x: tensor<?x8x8x16xf32>, %dy: tensor<?x8x8x1xf32>) -> tensor<3x3x16x1xf32> {
  %0 = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x1xf32> -> tensor<3x3x16x1xf32>
  return %0 : tensor<3x3x16x1xf32>
}
}

// -----

// More channels out, few in, bfloat16, a GPU: others'.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-3: td.conv2d_filter_grad
// CHECK-NOT: td.depthwise
module attributes {exec.config = #exec.config<target = <vector_bits = 256>>} {
func.func @step(%x: tensor<?x8x8x16xf32>, %dy: tensor<?x8x8x2xf32>, %grey: tensor<?x8x8x4xf32>, %one: tensor<?x8x8x1xf32>,
                %xb: tensor<?x8x8x16xbf16>, %oneb: tensor<?x8x8x1xbf16>)
    -> (tensor<3x3x16x2xf32>, tensor<3x3x4x1xf32>, tensor<3x3x16x1xf32>) {
  %0 = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x2xf32> -> tensor<3x3x16x2xf32>
  %1 = td.conv2d_filter_grad %grey, %one size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x4xf32>, tensor<?x8x8x1xf32> -> tensor<3x3x4x1xf32>
  %2 = td.conv2d_filter_grad %xb, %oneb size [3, 3] strides [1, 1] low [1, 1] high [1, 1] {f32_result} : tensor<?x8x8x16xbf16>, tensor<?x8x8x1xbf16> -> tensor<3x3x16x1xf32>
  return %0, %1, %2 : tensor<3x3x16x2xf32>, tensor<3x3x4x1xf32>, tensor<3x3x16x1xf32>
}
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x8x8x16xf32>, %dy: tensor<?x8x8x1xf32>) -> tensor<3x3x16x1xf32> {
    %0 = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x16xf32>, tensor<?x8x8x1xf32> -> tensor<3x3x16x1xf32>
    return %0 : tensor<3x3x16x1xf32>
  }
}
