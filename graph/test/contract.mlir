// RUN: tandem-opt %s -split-input-file | tandem-opt -split-input-file | FileCheck %s

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
