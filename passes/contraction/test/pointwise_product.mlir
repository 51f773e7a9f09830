// RUN: tandem-opt %s -td-choose-contractions -td-expand-contractions -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: %[[K:.*]] = td.reshape %arg1 : tensor<1x1x64x32xf32> -> tensor<64x32xf32>
// CHECK: %[[Y:.*]] = td.matmul %arg0, %[[K]] : tensor<?x8x8x64xf32>, tensor<64x32xf32> -> tensor<?x8x8x32xf32>
// CHECK: %[[G:.*]] = td.reshape %arg1 : tensor<1x1x64x32xf32> -> tensor<64x32xf32>
// CHECK: td.matmul %[[Y]], %[[G]] {transpose_b = true} : {{.*}} -> tensor<?x8x8x64xf32>
// CHECK: %[[DK:.*]] = td.matmul %arg0, %[[Y]] {transpose_a = true} : {{.*}} -> tensor<64x32xf32>
// CHECK: td.reshape %[[DK]] : tensor<64x32xf32> -> tensor<1x1x64x32xf32>
// CHECK-NOT: td.conv2d
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x8x8x64xf32>, %k: tensor<1x1x64x32xf32>)
      -> (tensor<?x8x8x32xf32>, tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32>) {
    %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32> -> tensor<?x8x8x32xf32>
    %1 = td.conv2d_input_grad %0, %k size [8, 8] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x64x32xf32> -> tensor<?x8x8x64xf32>
    %2 = td.conv2d_filter_grad %x, %0 size [1, 1] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<?x8x8x32xf32> -> tensor<1x1x64x32xf32>
    return %0, %1, %2 : tensor<?x8x8x32xf32>, tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32>
  }
}

// -----

// More taps, strides, borders.
// CHECK: why_not = "it has 9 taps a channel"
// CHECK: why_not = "it leaves out pixels"
// CHECK: why_not = "it pads its images"
// CHECK-LABEL: func.func @step
// CHECK-COUNT-3: td.conv2d
module attributes {exec.config = #exec.config<target = <backend = cuda>, precision = strict_float32>} {
  func.func @step(%x: tensor<?x8x8x64xf32>, %k: tensor<3x3x64x32xf32>, %p: tensor<1x1x64x32xf32>)
      -> (tensor<?x8x8x32xf32>, tensor<?x4x4x32xf32>, tensor<?x10x10x32xf32>) {
    %0 = td.conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x64xf32>, tensor<3x3x64x32xf32> -> tensor<?x8x8x32xf32> loc("a/Conv2D")
    %1 = td.conv2d %x, %p strides [2, 2] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32> -> tensor<?x4x4x32xf32> loc("b/Conv2D")
    %2 = td.conv2d %x, %p strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32> -> tensor<?x10x10x32xf32> loc("c/Conv2D")
    return %0, %1, %2 : tensor<?x8x8x32xf32>, tensor<?x4x4x32xf32>, tensor<?x10x10x32xf32>
  }
}

// -----

// TensorFloat-32: the library's convolutions take images as they lie.
// CHECK: <algorithm = pointwise_product>, why_not = "the library convolves NHWC as it lies"
// CHECK-LABEL: func.func @step
// CHECK: td.conv2d
module attributes {exec.config = #exec.config<target = <backend = cuda>, tf32 = true>} {
  func.func @step(%x: tensor<?x8x8x64xf32>, %k: tensor<1x1x64x32xf32>) -> tensor<?x8x8x32xf32> {
    %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32> -> tensor<?x8x8x32xf32>
    return %0 : tensor<?x8x8x32xf32>
  }
}

// -----

// A CPU's library has no such detour.
// CHECK-LABEL: func.func @step
// CHECK: td.conv2d
module attributes {exec.config = #exec.config<precision = strict_float32>} {
  func.func @step(%x: tensor<?x8x8x64xf32>, %k: tensor<1x1x64x32xf32>) -> tensor<?x8x8x32xf32> {
    %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x32xf32> -> tensor<?x8x8x32xf32>
    return %0 : tensor<?x8x8x32xf32>
  }
}
