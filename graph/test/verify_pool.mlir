// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of pooling, message by message.

func.func @one_stride(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{needs a window, strides and pads for height and width, not window [2,2], strides [2], low [0,0] and high [0,0]}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [2, 2] strides [2] low [0, 0] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @window(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{window [0,2] and strides [2,2] must be at least 1}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [0, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @stride(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{window [2,2] and strides [2,0] must be at least 1}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [2, 2] strides [2, 0] low [0, 0] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @negative_pad(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{pads low [0,-1] and high [0,0] must not be negative}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [2, 2] strides [2, 2] low [0, -1] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @window_in_the_padding(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{pads low [2,0] and high [0,0] must be smaller than the window [2,2], or a window would lie outside of the image}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [2, 2] strides [2, 2] low [2, 0] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @rank(%x: tensor<?x6x6xf32>) {
  // expected-error @+2 {{image [b,6,6] must have 4 dimensions [batch, height, width, channels]}}
  // expected-error @+1 {{'td.avg_pool' op failed to infer returned types}}
  %0 = td.avg_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @too_small(%x: tensor<?x2x6x3xf32>) {
  // expected-error @+2 {{image [b,2,6,3] is smaller than the window [3,3] with VALID padding}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [3, 3] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x2x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @too_small_with_padding(%x: tensor<?x2x6x3xf32>) {
  // expected-error @+2 {{image [b,2,6,3] is smaller than the window [5,5] with its padding}}
  // expected-error @+1 {{'td.max_pool' op failed to infer returned types}}
  %0 = td.max_pool %x window [5, 5] strides [2, 2] low [1, 1] high [1, 1] : tensor<?x2x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @gradient(%x: tensor<?x6x6x3xf32>, %dy: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{gradient is 'tensor<?x6x6x3xf32>', but the windows of image [b,6,6,3] give 'tensor<?x3x3x3xf32>'}}
  // expected-error @+1 {{'td.max_pool_grad' op failed to infer returned types}}
  %0 = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x3xf32>, tensor<?x6x6x3xf32> -> tensor<?x6x6x3xf32>
  return
}

// -----

func.func @one_size(%dy: tensor<?x3x3x3xf32>) {
  // expected-error @+2 {{size [6] must be the image's height and width}}
  // expected-error @+1 {{'td.avg_pool_grad' op failed to infer returned types}}
  %0 = td.avg_pool_grad %dy size [6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x3x3x3xf32> -> tensor<?x6x6x3xf32>
  return
}

// -----

func.func @no_size(%dy: tensor<?x3x3x3xf32>) {
  // expected-error @+2 {{size [6,0] must be the image's height and width}}
  // expected-error @+1 {{'td.avg_pool_grad' op failed to infer returned types}}
  %0 = td.avg_pool_grad %dy size [6, 0] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x3x3x3xf32> -> tensor<?x6x6x3xf32>
  return
}

// -----

func.func @gradient_rank(%dy: tensor<?x3x3xf32>) {
  // expected-error @+2 {{gradient [b,3,3] must have 4 dimensions [batch, height, width, channels]}}
  // expected-error @+1 {{'td.avg_pool_grad' op failed to infer returned types}}
  %0 = td.avg_pool_grad %dy size [6, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x3x3xf32> -> tensor<?x6x6x3xf32>
  return
}

// -----

func.func @gradient_of_size(%dy: tensor<?x3x3x3xf32>) {
  // expected-error @+2 {{gradient is 'tensor<?x3x3x3xf32>', but the windows of image [b,8,8,3] give 'tensor<?x4x4x3xf32>'}}
  // expected-error @+1 {{'td.avg_pool_grad' op failed to infer returned types}}
  %0 = td.avg_pool_grad %dy size [8, 8] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x3x3x3xf32> -> tensor<?x6x6x3xf32>
  return
}

// -----

func.func @places(%x: tensor<?x32x32x3xf32>) {
  // expected-error @+2 {{window [16,16] has more than 255 elements}}
  // expected-error @+1 {{'td.max_pool_argmax' op failed to infer returned types}}
  %0 = td.max_pool_argmax %x window [16, 16] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x32x32x3xf32> -> tensor<?x9x9x3xui8>
  return
}

// -----

func.func @places_of_gradient(%k: tensor<?x3x4x3xui8>, %dy: tensor<?x3x3x3xf32>) {
  // expected-error @+2 {{places of maxima [b,3,4,3] and gradient [b,3,3,3] differ in shape}}
  // expected-error @+1 {{'td.max_pool_argmax_grad' op failed to infer returned types}}
  %0 = td.max_pool_argmax_grad %k, %dy size [6, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x3x4x3xui8>, tensor<?x3x3x3xf32> -> tensor<?x6x6x3xf32>
  return
}
