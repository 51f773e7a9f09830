// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of depthwise convolutions, message by message.

func.func @strides(%x: tensor<?x8x8x4xf32>, %y: tensor<3x3x1x4xf32>) {
  // expected-error @+2 {{needs strides and pads for height and width, not strides [1], low [0,0] and high [0,0]}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @zero_stride(%x: tensor<?x8x8x4xf32>, %y: tensor<3x3x1x4xf32>) {
  // expected-error @+2 {{strides [0,1] must be at least 1, and low [0,0] and high [0,0] must not be negative}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [0, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @types(%x: tensor<?x8x8x4xf32>, %y: tensor<3x3x1x4xbf16>) {
  // expected-error @+2 {{operands must have one element type, not 'f32' and 'bf16'; cast one of them}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x1x4xbf16> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @rank(%x: tensor<?x8x4xf32>, %y: tensor<3x3x1x4xf32>) {
  // expected-error @+2 {{image [b,8,4] and kernel [3,3,1,4] must have 4 dimensions}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x4xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @kernel_channels(%x: tensor<?x8x8x4xf32>, %y: tensor<3x3x4x4xf32>) {
  // expected-error @+2 {{kernel [3,3,4,4] must be [height, width, 1, channels x multiplier]}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x4x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @channels(%x: tensor<?x8x8x4xf32>, %y: tensor<3x3x1x6xf32>) {
  // expected-error @+2 {{has 6 output channels, which is no multiple of the input's 4}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x1x6xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @small_image(%x: tensor<?x2x8x4xf32>, %y: tensor<3x3x1x4xf32>) {
  // expected-error @+2 {{input [b,2,8,4] is smaller than the kernel [3,3,1,4]}}
  // expected-error @+1 {{'td.depthwise_conv2d' op failed to infer returned types}}
  %0 = td.depthwise_conv2d %x, %y strides [1, 1] low [0, 0] high [0, 0] : tensor<?x2x8x4xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @input_size(%x: tensor<?x6x6x4xf32>, %y: tensor<3x3x1x4xf32>) {
  // expected-error @+2 {{size [8,8] must be the input's height, width and channels}}
  // expected-error @+1 {{'td.depthwise_conv2d_input_grad' op failed to infer returned types}}
  %0 = td.depthwise_conv2d_input_grad %x, %y size [8, 8] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x4xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @gradient_channels(%x: tensor<?x6x6x8xf32>, %y: tensor<3x3x1x4xf32>) {
  // expected-error @+2 {{gradient [b,6,6,8] and kernel [3,3,1,4] differ in channels}}
  // expected-error @+1 {{'td.depthwise_conv2d_input_grad' op failed to infer returned types}}
  %0 = td.depthwise_conv2d_input_grad %x, %y size [8, 8, 4] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x8xf32>, tensor<3x3x1x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @kernel_size(%x: tensor<?x6x6x4xf32>, %y: tensor<?x8x8x4xf32>) {
  // expected-error @+2 {{size [3] must be the kernel's height and width}}
  // expected-error @+1 {{'td.depthwise_conv2d_filter_grad' op failed to infer returned types}}
  %0 = td.depthwise_conv2d_filter_grad %x, %y size [3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x4xf32>, tensor<?x8x8x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @gradient_rank(%x: tensor<?x6x4xf32>, %y: tensor<?x8x8x4xf32>) {
  // expected-error @+2 {{image [b,8,8,4] and gradient [b,6,4] must have 4 dimensions}}
  // expected-error @+1 {{'td.depthwise_conv2d_filter_grad' op failed to infer returned types}}
  %0 = td.depthwise_conv2d_filter_grad %x, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x4xf32>, tensor<?x8x8x4xf32> -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @gradient_rows(%x: tensor<2x6x6x4xf32>, %y: tensor<?x8x8x4xf32>) {
  // expected-error @+2 {{input [b,8,8,4] and gradient [2,6,6,4] differ in rows}}
  // expected-error @+1 {{'td.depthwise_conv2d_filter_grad' op failed to infer returned types}}
  %0 = td.depthwise_conv2d_filter_grad %x, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<2x6x6x4xf32>, tensor<?x8x8x4xf32> -> tensor<?x6x6x4xf32>
  return
}
