// RUN: tandem-opt %s -td-choose-contractions -td-expand-contractions -split-input-file | FileCheck %s

// Sums over the batch of large results whose operands are small leave the maps.
// CHECK-LABEL: module
// CHECK: %[[DW:.*]] = exec.contraction matmul %arg0, %arg1 by weight_grad_blocks : (tensor<?x512xf32>, tensor<?x256xf32>) -> tensor<512x256xf32>
// CHECK: exec.contraction matmul %arg2, %arg3 by weight_grad_blocks : (tensor<?x2x512xf32>, tensor<?x2x256xf32>) -> tensor<512x256xf32>
// CHECK-NOT: td.matmul
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], batch = 16>} {
  func.func @step(%x: tensor<?x512xf32>, %dy: tensor<?x256xf32>, %xs: tensor<?x2x512xf32>, %dys: tensor<?x2x256xf32>)
      -> (tensor<512x256xf32>, tensor<512x256xf32>) {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x512xf32>, tensor<?x256xf32> -> tensor<512x256xf32>
    %1 = td.matmul %xs, %dys {transpose_a = true} : tensor<?x2x512xf32>, tensor<?x2x256xf32> -> tensor<512x256xf32>
    return %0, %1 : tensor<512x256xf32>, tensor<512x256xf32>
  }
}

// -----

// The number of devices must not matter: the same global batch, the same choice.
// CHECK-LABEL: module
// CHECK: exec.contraction matmul
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 64>} {
  func.func @step(%x: tensor<?x512xf32>, %dy: tensor<?x256xf32>) -> tensor<512x256xf32> {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x512xf32>, tensor<?x256xf32> -> tensor<512x256xf32>
    return %0 : tensor<512x256xf32>
  }
}

// -----

// Of bfloat16 operands the gradient is float32, and the kernel multiplies float32 numbers: it is taken where combining
// lanes costs more than the library's faster products gain.
// CHECK-LABEL: module
// CHECK: exec.contraction matmul %arg0, %arg1 by weight_grad_blocks : (tensor<?x512xbf16>, tensor<?x256xbf16>) -> tensor<512x256xf32>
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 16, machine_model = "zen4">} {
  func.func @step(%x: tensor<?x512xbf16>, %dy: tensor<?x256xbf16>) -> tensor<512x256xf32> {
    %0 = td.matmul %x, %dy {f32_result, transpose_a = true} : tensor<?x512xbf16>, tensor<?x256xbf16> -> tensor<512x256xf32>
    return %0 : tensor<512x256xf32>
  }
}

// -----

// A larger batch: keeping the operands would cost more than slots do. GPUs have one lane. Products without batch, per
// example, rounded to bfloat16 or with few columns or elements are others' work.
// CHECK-LABEL: module
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 512>} {
  func.func @step(%x: tensor<?x512xf32>, %dy: tensor<?x256xf32>) -> tensor<512x256xf32> {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x512xf32>, tensor<?x256xf32> -> tensor<512x256xf32>
    return %0 : tensor<512x256xf32>
  }
}

// -----

// CHECK-LABEL: module
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<devices = ["gpu:0"], batch = 64, target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x512xf32>, %dy: tensor<?x256xf32>) -> tensor<512x256xf32> {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x512xf32>, tensor<?x256xf32> -> tensor<512x256xf32>
    return %0 : tensor<512x256xf32>
  }
}

// -----

// CHECK-LABEL: module
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 4>} {
  func.func @step(%x: tensor<?x512xf32>, %w: tensor<512x256xf32>, %b: tensor<?x512xbf16>, %narrow: tensor<?x10xf32>,
                  %small: tensor<?x64xf32>)
      -> (tensor<?x256xf32>, tensor<512x512xbf16>, tensor<512x10xf32>, tensor<64x64xf32>, tensor<256x256xf32>) {
    %0 = td.matmul %x, %w : tensor<?x512xf32>, tensor<512x256xf32> -> tensor<?x256xf32>
    %1 = td.matmul %b, %b {transpose_a = true} : tensor<?x512xbf16>, tensor<?x512xbf16> -> tensor<512x512xbf16>
    %2 = td.matmul %x, %narrow {transpose_a = true} : tensor<?x512xf32>, tensor<?x10xf32> -> tensor<512x10xf32>
    %3 = td.matmul %small, %small {transpose_a = true} : tensor<?x64xf32>, tensor<?x64xf32> -> tensor<64x64xf32>
    %4 = td.matmul %w, %w {transpose_a = true} : tensor<512x256xf32>, tensor<512x256xf32> -> tensor<256x256xf32>
    return %0, %1, %2, %3, %4 : tensor<?x256xf32>, tensor<512x512xbf16>, tensor<512x10xf32>, tensor<64x64xf32>, tensor<256x256xf32>
  }
}

// -----

// Convolutions over small images with many channels, whatever their kernels and strides.
// CHECK-LABEL: module
// CHECK: exec.contraction conv2d_filter_grad %arg0, %arg1 by weight_grad_blocks size [1, 1] strides [1, 1] low [0, 0] high [0, 0]
// CHECK: exec.contraction conv2d_filter_grad %arg0, %arg0 by weight_grad_blocks size [3, 3] strides [1, 1] low [1, 1] high [1, 1]
// CHECK: exec.contraction conv2d_filter_grad %arg2, %arg1 by weight_grad_blocks size [1, 1] strides [2, 2] low [0, 0] high [0, 0]
// CHECK-NOT: td.conv2d_filter_grad
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 16, machine_model = "zen4">} {
  func.func @step(%x: tensor<?x7x7x512xf32>, %dy: tensor<?x7x7x2048xf32>, %large: tensor<?x14x14x1024xf32>)
      -> (tensor<1x1x512x2048xf32>, tensor<3x3x512x512xf32>, tensor<1x1x1024x2048xf32>) {
    %0 = td.conv2d_filter_grad %x, %dy size [1, 1] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x7x7x512xf32>, tensor<?x7x7x2048xf32> -> tensor<1x1x512x2048xf32>
    %1 = td.conv2d_filter_grad %x, %x size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x7x7x512xf32>, tensor<?x7x7x512xf32> -> tensor<3x3x512x512xf32>
    %2 = td.conv2d_filter_grad %large, %dy size [1, 1] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x14x14x1024xf32>, tensor<?x7x7x2048xf32> -> tensor<1x1x1024x2048xf32>
    return %0, %1, %2 : tensor<1x1x512x2048xf32>, tensor<3x3x512x512xf32>, tensor<1x1x1024x2048xf32>
  }
}

// -----

// What Winograd's algorithm does faster stays in the lanes, as do gradients of large images and
// those that are rounded to bfloat16.
// CHECK-LABEL: module
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 8, machine_model = "zen4">} {
  func.func @step(%x: tensor<?x14x14x512xf32>, %large: tensor<?x56x56x256xf32>, %b: tensor<?x7x7x512xbf16>)
      -> (tensor<3x3x512x512xf32>, tensor<1x1x256x256xf32>, tensor<1x1x512x512xbf16>) {
    %0 = td.conv2d_filter_grad %x, %x size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x14x14x512xf32>, tensor<?x14x14x512xf32> -> tensor<3x3x512x512xf32>
    %1 = td.conv2d_filter_grad %large, %large size [1, 1] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x56x56x256xf32>, tensor<?x56x56x256xf32> -> tensor<1x1x256x256xf32>
    %2 = td.conv2d_filter_grad %b, %b size [1, 1] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x7x7x512xbf16>, tensor<?x7x7x512xbf16> -> tensor<1x1x512x512xbf16>
    return %0, %1, %2 : tensor<3x3x512x512xf32>, tensor<1x1x256x256xf32>, tensor<1x1x512x512xbf16>
  }
}

// -----

// So long a batch that the copy of a strip of x would not fit a thread's stack.
// CHECK-LABEL: module
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 32768>} {
  func.func @step(%x: tensor<?x65536xf32>, %dy: tensor<?x65536xf32>) -> tensor<65536x65536xf32> {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x65536xf32>, tensor<?x65536xf32> -> tensor<65536x65536xf32>
    return %0 : tensor<65536x65536xf32>
  }
}

// -----

// A row at least in each of many lanes: the copies would not fit a thread's stack.
// CHECK-LABEL: module
// CHECK-NOT: exec.contraction {{[a-z]}}
module attributes {exec.config = #exec.config<devices = ["cpu:0"], batch = 64, lanes = 32768>} {
  func.func @step(%x: tensor<?x512xf32>, %dy: tensor<?x256xf32>) -> tensor<512x256xf32> {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<?x512xf32>, tensor<?x256xf32> -> tensor<512x256xf32>
    return %0 : tensor<512x256xf32>
  }
}
