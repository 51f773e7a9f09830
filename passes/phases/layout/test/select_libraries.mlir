// RUN: tandem-opt %s -td-select-libraries -split-input-file | FileCheck %s

// Bias and relu become the convolution's epilogue; its kernel is packed at the top of the step, once for all
// microbatches, and the map no longer takes it. The filter gradient sums over the batch and has nothing to pack.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<?x8x8x16xf32>, %[[W:.*]]: tensor<3x3x16x32xf32>, %[[B:.*]]: tensor<32xf32>
// CHECK: %[[P:.*]] = exec.library_call(%[[W]]) #exec.pack_weights<reader = #exec.conv2d<x_shape
// CHECK: exec.map_microbatches(%[[X]], %[[B]], %[[P]]
// CHECK: ^bb0(%[[XS:.*]]: tensor<?x8x8x16xf32>, %[[BS:.*]]: tensor<32xf32>, %[[PS:.*]]: tensor<{{.*}}xf32>):
// CHECK: %[[Y:.*]] = exec.library_call(%[[XS]], %[[PS]], %[[BS]]) #exec.conv2d<
// CHECK-SAME: x_shape = [4, 8, 8, 16], kernel_shape = [3, 3, 16, 32], y_shape = [4, 6, 6, 32]
// CHECK-SAME: packed = true, epilogue = <bias = true, activation = relu>> by library as "{{[^"]*}}"
// CHECK-NOT: td.relu
// CHECK: exec.library_call(%[[XS]], %[[Y]]) #exec.conv2d<direction = filter_grad
func.func @step(%x: tensor<?x8x8x16xf32>, %w: tensor<3x3x16x32xf32>, %b: tensor<32xf32>) -> tensor<3x3x16x32xf32> {
  %r = exec.map_microbatches (%x, %w, %b : tensor<?x8x8x16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>) reduce [sum] scope [global]
      lanes 8 rows 4 microbatch 4 -> (tensor<3x3x16x32xf32>) {
  ^bb0(%xs: tensor<?x8x8x16xf32>, %ws: tensor<3x3x16x32xf32>, %bs: tensor<32xf32>):
    %c = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xf32>, tensor<3x3x16x32xf32> -> tensor<?x6x6x32xf32>
    %bb = td.broadcast %bs dims [3] : tensor<32xf32> -> tensor<?x6x6x32xf32>
    %a = td.add %c, %bb : tensor<?x6x6x32xf32>
    %y = td.relu %a : tensor<?x6x6x32xf32>
    %d = td.conv2d_filter_grad %xs, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xf32>, tensor<?x6x6x32xf32> -> tensor<3x3x16x32xf32>
    exec.yield %d : tensor<3x3x16x32xf32>
  }
  return %r : tensor<3x3x16x32xf32>
}

// -----

// A value that is read elsewhere too stays what it is.
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]] = exec.library_call({{.*}}) #exec.matmul<
// CHECK-NOT: epilogue
// CHECK: td.relu %[[M]]
func.func @step(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = td.matmul %a, %b : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %1 = td.relu %0 : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The second convolution adds what the first one made: all else that reads it has run by then. The third cannot write
// over an argument of the map, nor the fourth over its own operand; the fifth's residual is read behind it, and the sum of
// the sixth is the map's.
// CHECK-LABEL: func.func @step
// CHECK: ^bb0(
// CHECK: %[[Y:.*]] = exec.library_call({{.*}}) #exec.conv2d<{{.*}}epilogue = <bias = true, activation = relu>
// CHECK: %[[H:.*]] = exec.library_call(%[[Y]],
// CHECK: %[[Z:.*]] = exec.library_call(%[[H]], {{.*}}, %[[Y]]) #exec.conv2d<{{.*}}epilogue = <bias = true, residual = true, activation = relu
// CHECK-NOT: adds
// CHECK-COUNT-4: td.add
func.func @step(%x: tensor<?x8x8x32xf32>, %w: tensor<1x1x32x32xf32>, %b: tensor<32xf32>) -> (tensor<?x8x8x32xf32>, tensor<?x8x8x32xf32>) {
  %r:2 = exec.map_microbatches (%x, %w, %b : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32>, tensor<32xf32>) reduce [keep, keep] scope [global, global]
      lanes 8 rows 4 microbatch 4 -> (tensor<?x8x8x32xf32>, tensor<?x8x8x32xf32>) {
  ^bb0(%xs: tensor<?x8x8x32xf32>, %ws: tensor<1x1x32x32xf32>, %bs: tensor<32xf32>):
    %bb = td.broadcast %bs dims [3] : tensor<32xf32> -> tensor<?x8x8x32xf32>
    %c1 = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %b1 = td.add %c1, %bb : tensor<?x8x8x32xf32>
    %y = td.relu %b1 : tensor<?x8x8x32xf32>
    %h = td.conv2d %y, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %c2 = td.conv2d %h, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %b2 = td.add %c2, %bb : tensor<?x8x8x32xf32>
    %s2 = td.add %b2, %y : tensor<?x8x8x32xf32>
    %z = td.relu %s2 : tensor<?x8x8x32xf32>
    %c3 = td.conv2d %z, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %s3 = td.add %xs, %c3 : tensor<?x8x8x32xf32>
    %c4 = td.conv2d %s3, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %s4 = td.add %c4, %s3 : tensor<?x8x8x32xf32>
    %t4 = td.tanh %s4 : tensor<?x8x8x32xf32>
    %c5 = td.conv2d %t4, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %s5 = td.add %c5, %s4 : tensor<?x8x8x32xf32>
    %t5 = td.mul %s5, %s4 : tensor<?x8x8x32xf32>
    %u5 = td.tanh %t5 : tensor<?x8x8x32xf32>
    %c6 = td.conv2d %u5, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x32xf32>, tensor<1x1x32x32xf32> -> tensor<?x8x8x32xf32>
    %s6 = td.add %c6, %t5 : tensor<?x8x8x32xf32>
    exec.yield %s6, %u5 : tensor<?x8x8x32xf32>, tensor<?x8x8x32xf32>
  }
  return %r#0, %r#1 : tensor<?x8x8x32xf32>, tensor<?x8x8x32xf32>
}
