// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The verifiers of Winograd convolutions, message by message.

func.func @kernel_shape(%k: tensor<5x5x32x64xf32>) {
  // expected-error @+1 {{'exec.winograd_kernel' op needs a kernel [3, 3, in, out], not [5,5,32,64]}}
  %u = exec.winograd_kernel %k {tile = 4} : tensor<5x5x32x64xf32> -> tensor<36x2048xf32>
  return
}

// -----

func.func @kernel_tile(%k: tensor<3x3x32x64xf32>) {
  // expected-error @+1 {{'exec.winograd_kernel' op needs a tile of 2, 3 or 4 pixels, not 5}}
  %u = exec.winograd_kernel %k {tile = 5} : tensor<3x3x32x64xf32> -> tensor<49x2048xf32>
  return
}

// -----

func.func @kernel_result(%k: tensor<3x3x32x64xf32>) {
  // expected-error @+1 {{'exec.winograd_kernel' op needs a transformed kernel 'tensor<36x2048xf32>', not 'tensor<36x1024xf32>'}}
  %u = exec.winograd_kernel %k {tile = 4} : tensor<3x3x32x64xf32> -> tensor<36x1024xf32>
  return
}

// -----

func.func @rank(%x: tensor<?x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs images [batch, height, width, channels], not [b,13,32] and [b,11,11,64]}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @batch(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op works on batched images only, not on [b,13,13,32] and [4,11,11,64]}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<4x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @tile(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs a tile of 2, 3 or 4 pixels and a positive block, not 6 and 36}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 6, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @block(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs a tile of 2, 3 or 4 pixels and a positive block, not 4 and 0}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 0, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @two_pads(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs pad_low for height and width, not [0]}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @pads(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs pads of 0 to 2 on each side, but has 0 and 4 in dimension 1}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x15x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @scratch(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs scratch memory 'tensor<723456xui8>', not 'tensor<16xui8>'}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @bias(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>, %b: tensor<32xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs a bias [64], not [32]}}
  %y, %s = exec.winograd_conv2d %x, %u, %b {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>, tensor<32xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @residual(%x: tensor<?x13x13x32xf32>, %u: tensor<36x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs a residual of its result's type 'tensor<?x11x11x64xf32>', not 'tensor<?x13x13x32xf32>'}}
  %y, %s = exec.winograd_conv2d %x, %u adds %x {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>, tensor<?x13x13x32xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @transformed(%x: tensor<?x13x13x32xf32>, %u: tensor<16x2048xf32>) {
  // expected-error @+1 {{'exec.winograd_conv2d' op needs a transformed kernel 'tensor<36x2048xf32>', not 'tensor<16x2048xf32>'}}
  %y, %s = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<16x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  return
}

// -----

func.func @gradient(%x: tensor<?x13x13x32xf32>, %dy: tensor<?x11x11x64xf32>) {
  // expected-error @+1 {{'exec.winograd_filter_grad' op gives a kernel [3,3,32,64], not [3,3,64,32]}}
  %dk, %s = exec.winograd_filter_grad %x, %dy {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<?x11x11x64xf32>) -> (tensor<3x3x64x32xf32>, tensor<1018368xui8>)
  return
}
