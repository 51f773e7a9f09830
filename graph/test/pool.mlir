// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x5x6x3xf32>, %dy: tensor<?x2x3x3xf32>) {
  // CHECK: td.max_pool %{{.*}} window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32> -> tensor<?x2x3x3xf32>
  %0 = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32> -> tensor<?x2x3x3xf32>
  // CHECK: td.max_pool_grad %{{.*}}, %{{.*}} window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32>, tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  %1 = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32>, tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  // CHECK: td.avg_pool %{{.*}} window [3, 3] strides [2, 2] low [1, 0] high [1, 1] : tensor<?x5x6x3xf32> -> tensor<?x3x3x3xf32>
  %2 = td.avg_pool %x window [3, 3] strides [2, 2] low [1, 0] high [1, 1] : tensor<?x5x6x3xf32> -> tensor<?x3x3x3xf32>
  // CHECK: td.avg_pool_grad %{{.*}} size [5, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  %3 = td.avg_pool_grad %dy size [5, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  return
}

// -----

func.func @too_small(%x: tensor<?x2x6x3xf32>) {
  // expected-error @+2 {{image [b,2,6,3] is smaller than the window [3,3] with VALID padding}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.max_pool %x window [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x2x6x3xf32> -> tensor<?x1x4x3xf32>
  return
}

// -----

func.func @rank(%x: tensor<?x6x3xf32>) {
  // expected-error @+2 {{image [b,6,3] must have 4 dimensions [batch, height, width, channels]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.avg_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x3xf32> -> tensor<?x3x1xf32>
  return
}

// -----

func.func @window_in_the_padding(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{pads must be smaller than the window, or a window would lie outside of the image}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.max_pool %x window [2, 2] strides [2, 2] low [2, 0] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x4x3x3xf32>
  return
}

// -----

func.func @stride(%x: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{has a window or stride below 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.max_pool %x window [2, 2] strides [0, 2] low [0, 0] high [0, 0] : tensor<?x6x6x3xf32> -> tensor<?x3x3x3xf32>
  return
}

// -----

func.func @gradient(%x: tensor<?x6x6x3xf32>, %dy: tensor<?x6x6x3xf32>) {
  // expected-error @+2 {{gradient is 'tensor<?x6x6x3xf32>', but the windows of image [b,6,6,3] give 'tensor<?x3x3x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x3xf32>, tensor<?x6x6x3xf32> -> tensor<?x6x6x3xf32>
  return
}

// -----

func.func @size(%dy: tensor<?x3x3x3xf32>) {
  // expected-error @+2 {{needs the input's height and width}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.avg_pool_grad %dy size [6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x3x3x3xf32> -> tensor<?x6x6x3xf32>
  return
}
