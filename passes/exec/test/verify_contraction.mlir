// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The verifier of exec.contraction, message by message.

func.func @algorithm(%x: tensor<?x32xf32>, %dy: tensor<?x64xf32>) {
  // expected-error @+1 {{'exec.contraction' op has no code for matmul by few_taps}}
  %dw = exec.contraction matmul %x, %dy by few_taps : (tensor<?x32xf32>, tensor<?x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @library(%x: tensor<?x8x8x1xf32>, %k: tensor<3x3x1x8xf32>) {
  // expected-error @+1 {{'exec.contraction' op has no code for conv2d by library}}
  %y = exec.contraction conv2d %x, %k by library strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x8x8x1xf32>, tensor<3x3x1x8xf32>) -> tensor<?x6x6x8xf32>
  return
}

// -----

// What the operands must be is td.conv2d's to say.
func.func @channels_in(%x: tensor<?x8x8x2xf32>, %k: tensor<3x3x1x8xf32>) {
  // expected-error @+2 {{input [b,8,8,2] has 2 channels, but the kernel [3,3,1,8] takes 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = exec.contraction conv2d %x, %k by few_taps strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x8x8x2xf32>, tensor<3x3x1x8xf32>) -> tensor<?x6x6x8xf32>
  return
}

// -----

func.func @result(%x: tensor<?x8x8x1xf32>, %k: tensor<3x3x1x8xf32>) {
  // expected-error @+2 {{'exec.contraction' op inferred type(s) 'tensor<?x6x6x8xf32>' are incompatible with return type(s) of operation 'tensor<?x8x8x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = exec.contraction conv2d %x, %k by few_taps strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x8x8x1xf32>, tensor<3x3x1x8xf32>) -> tensor<?x8x8x8xf32>
  return
}

// -----

func.func @no_strides(%x: tensor<?x8x8x1xf32>, %k: tensor<3x3x1x8xf32>) {
  // expected-error @+2 {{needs strides and pads for height and width, not strides [], low [] and high []}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = exec.contraction conv2d %x, %k by few_taps : (tensor<?x8x8x1xf32>, tensor<3x3x1x8xf32>) -> tensor<?x6x6x8xf32>
  return
}

// -----

func.func @size(%dy: tensor<?x6x6x8xf32>, %x: tensor<?x8x8x1xf32>) {
  // expected-error @+1 {{'exec.contraction' op size [3,0] must be at least 1}}
  %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps size [3, 0] strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x6x6x8xf32>, tensor<?x8x8x1xf32>) -> tensor<3x0x1x8xf32>
  return
}

// -----

func.func @rank(%x: tensor<?x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.contraction' op needs batched bfloat16 images [batch, height, width, channels], not 'tensor<?x13x32xbf16>' and 'tensor<?x11x11x64xbf16>'}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @batch(%x: tensor<?x13x13x32xbf16>, %dy: tensor<4x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.contraction' op needs batched bfloat16 images [batch, height, width, channels], not 'tensor<?x13x13x32xbf16>' and 'tensor<4x11x11x64xbf16>'}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<4x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @element(%x: tensor<?x13x13x32xf32>, %dy: tensor<?x11x11x64xf32>) {
  // expected-error @+1 {{'exec.contraction' op needs batched bfloat16 images [batch, height, width, channels], not 'tensor<?x13x13x32xf32>' and 'tensor<?x11x11x64xf32>'}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xf32>, tensor<?x11x11x64xf32>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @channels(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x60xbf16>) {
  // expected-error @+1 {{'exec.contraction' op needs multiples of 16 channels, not 32 and 60}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x60xbf16>) -> (tensor<3x3x32x60xf32>, tensor<16xui8>)
  return
}

// -----

func.func @two_sizes(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+2 {{size [3] must be the kernel's height and width}}
  // expected-error @+1 {{failed to infer returned types}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @stride(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+2 {{strides [0,1] must be at least 1, and low [0,0] and high [0,0] must not be negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [0, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @pad(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+2 {{strides [1,1] must be at least 1, and low [0,-1] and high [0,0] must not be negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, -1] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @kernel(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+2 {{'exec.contraction' op inferred type(s) 'tensor<3x3x32x64xf32>', 'tensor<304000xui8>' are incompatible with return type(s) of operation 'tensor<3x3x64x32xf32>', 'tensor<304000xui8>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x64x32xf32>, tensor<304000xui8>)
  return
}

// -----

func.func @scratch(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+2 {{'exec.contraction' op inferred type(s) 'tensor<3x3x32x64xf32>', 'tensor<304000xui8>' are incompatible with return type(s) of operation 'tensor<3x3x32x64xf32>', 'tensor<16xui8>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}
