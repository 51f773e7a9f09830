// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %i: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x5xf32>) {
  // CHECK: td.matmul %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
  %0 = td.matmul %x, %w : tensor<?x8xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
  // CHECK: td.matmul %{{.*}}, %{{.*}} {transpose_a = true} : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<8x4xf32>
  %1 = td.matmul %x, %0 {transpose_a = true} : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<8x4xf32>
  // CHECK: td.conv2d %{{.*}}, %{{.*}} strides [2, 2] low [0, 0] high [1, 1]
  %2 = td.conv2d %i, %k strides [2, 2] low [0, 0] high [1, 1] : tensor<?x8x8x3xf32>, tensor<3x3x3x5xf32> -> tensor<?x4x4x5xf32>
  // CHECK: td.conv2d_input_grad %{{.*}}, %{{.*}} size [8, 8] strides [2, 2]
  %3 = td.conv2d_input_grad %2, %k size [8, 8] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x4x4x5xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x3xf32>
  // CHECK: td.conv2d_filter_grad %{{.*}}, %{{.*}} size [3, 3] strides [2, 2]
  %4 = td.conv2d_filter_grad %i, %2 size [3, 3] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x4x4x5xf32> -> tensor<3x3x3x5xf32>
  return
}

// -----

// CHECK-LABEL: @rows_and_batches
func.func @rows_and_batches(%x: tensor<?x3x8xf32>, %w: tensor<8x4xf32>, %q: tensor<?x5x2x8xf32>) {
  // CHECK: td.matmul %{{.*}}, %{{.*}} : tensor<?x3x8xf32>, tensor<8x4xf32> -> tensor<?x3x4xf32>
  %0 = td.matmul %x, %w : tensor<?x3x8xf32>, tensor<8x4xf32> -> tensor<?x3x4xf32>
  // CHECK: td.matmul %{{.*}}, %{{.*}} {transpose_a = true} : tensor<?x3x8xf32>, tensor<?x3x4xf32> -> tensor<8x4xf32>
  %1 = td.matmul %x, %0 {transpose_a = true} : tensor<?x3x8xf32>, tensor<?x3x4xf32> -> tensor<8x4xf32>
  // CHECK: td.batch_matmul %{{.*}}, %{{.*}} {swap_a = true, swap_b = true, transpose_b = true}
  %2 = td.batch_matmul %q, %q {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x5x2x8xf32>, tensor<?x5x2x8xf32> -> tensor<?x2x5x5xf32>
  // CHECK: td.batch_matmul %{{.*}}, %{{.*}} : tensor<?x3x8xf32>, tensor<?x8x3xf32> -> tensor<?x3x3xf32>
  %3 = td.transpose %x perm [0, 2, 1] : tensor<?x3x8xf32> -> tensor<?x8x3xf32>
  %4 = td.batch_matmul %x, %3 : tensor<?x3x8xf32>, tensor<?x8x3xf32> -> tensor<?x3x3xf32>
  return
}

// -----

func.func @matrix_per_example(%x: tensor<?x3x8xf32>, %y: tensor<?x8x3xf32>) {
  // expected-error @+2 {{does not multiply [b,3,8] by [b,8,3]: batch_matmul may be meant}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.matmul %x, %y : tensor<?x3x8xf32>, tensor<?x8x3xf32> -> tensor<?x3x3xf32>
  return
}

// -----

func.func @heads(%x: tensor<?x3x2x8xf32>, %y: tensor<?x2x3x8xf32>) {
  // expected-error @+2 {{leading dimensions of [b,3,2,8] and [b,2,3,8] differ}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.batch_matmul %x, %y {transpose_b = true} : tensor<?x3x2x8xf32>, tensor<?x2x3x8xf32> -> tensor<?x3x2x2xf32>
  return
}

// -----

func.func @inner(%x: tensor<?x8xf32>, %w: tensor<7x4xf32>) {
  // expected-error @+2 {{inner sizes of [b,8] and [7,4] differ}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.matmul %x, %w : tensor<?x8xf32>, tensor<7x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @too_small(%x: tensor<?x5x5x32xf32>, %k: tensor<7x7x32x64xf32>) {
  // expected-error @+2 {{input [b,5,5,32] is smaller than the kernel [7,7,32,64] with VALID padding}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x5x5x32xf32>, tensor<7x7x32x64xf32> -> tensor<?x1x1x64xf32>
  return
}
