// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The verifier of exec.packed_filter_grad, message by message.

func.func @rank(%x: tensor<?x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op needs batched images [batch, height, width, channels], not [b,13,32] and [b,11,11,64]}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @batch(%x: tensor<?x13x13x32xbf16>, %dy: tensor<4x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op needs batched images [batch, height, width, channels], not [b,13,13,32] and [4,11,11,64]}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xbf16>, tensor<4x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @channels(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x60xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op needs multiples of 16 channels, not 32 and 60}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x60xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @two_sizes(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op needs size, strides and pad_low for height and width, not [3], [1,1] and [0,0]}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @stride(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op size [3,3] and strides [0,1] must be at least 1, and pad_low [0,0] must not be negative}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 0, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @pad(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op size [3,3] and strides [1,1] must be at least 1, and pad_low [0,-1] must not be negative}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, -1>}
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}

// -----

func.func @kernel(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op gives a kernel [3,3,32,64], not [3,3,64,32]}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x64x32xf32>, tensor<16xui8>)
  return
}

// -----

func.func @scratch(%x: tensor<?x13x13x32xbf16>, %dy: tensor<?x11x11x64xbf16>) {
  // expected-error @+1 {{'exec.packed_filter_grad' op needs scratch memory 'tensor<304000xui8>', not 'tensor<16xui8>'}}
  %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<16xui8>)
  return
}
