// RUN: tandem-opt %s | tandem-opt | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x13x13x32xf32>, %k: tensor<3x3x32x64xf32>, %b: tensor<64xf32>, %dy: tensor<?x11x11x64xf32>) {
  // CHECK: exec.winograd_kernel %{{.*}} {tile = 4 : i64} : tensor<3x3x32x64xf32> -> tensor<36x2048xf32>
  %u = exec.winograd_kernel %k {tile = 4} : tensor<3x3x32x64xf32> -> tensor<36x2048xf32>
  // CHECK: exec.winograd_kernel %{{.*}} {adjoint = true, tile = 2 : i64} : tensor<3x3x32x64xf32> -> tensor<16x2048xf32>
  %v = exec.winograd_kernel %k {tile = 2, adjoint = true} : tensor<3x3x32x64xf32> -> tensor<16x2048xf32>
  // CHECK: exec.winograd_conv2d %{{.*}}, %{{.*}}, %{{.*}} {block = 36 : i64, pad_low = array<i64: 0, 0>, relu, tile = 4 : i64}
  %y, %s0 = exec.winograd_conv2d %x, %u, %b {tile = 4, block = 36, pad_low = array<i64: 0, 0>, relu}
      : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>, tensor<64xf32>) -> (tensor<?x11x11x64xf32>, tensor<723456xui8>)
  // CHECK: exec.winograd_input_grad
  %dx, %s1 = exec.winograd_input_grad %dy, %v {tile = 2, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x11x11x64xf32>, tensor<16x2048xf32>) -> (tensor<?x13x13x32xf32>, tensor<321536xui8>)
  // CHECK: exec.winograd_filter_grad
  %dk, %s2 = exec.winograd_filter_grad %x, %dy {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
      : (tensor<?x13x13x32xf32>, tensor<?x11x11x64xf32>) -> (tensor<3x3x32x64xf32>, tensor<1018368xui8>)
  return
}
