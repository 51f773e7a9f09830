// RUN: tandem-opt %s -td-choose-contractions -td-lower-contractions -split-input-file | FileCheck %s

// S0's second layer with its gradients, in microbatches of 32 rows. Kernels are transformed in front of the map, bias
// and relu are the convolution's own, and the module says what was expected.
// CHECK: module attributes {exec.contractions = [#exec.contraction_report<name = "conv", op = "conv2d", rows = 32, verdicts = [
// CHECK-SAME: #exec.verdict<contraction = <algorithm = winograd, tile = 4, block = {{[0-9]+}}>, nanoseconds = {{[0-9]+}}, why_not = "">
// CHECK-SAME: #exec.verdict<contraction = <algorithm = library>, nanoseconds = {{[0-9]+}}, why_not = "winograd_f4 is taken">
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<?x13x13x32xf32>, %[[W:.*]]: tensor<3x3x32x64xf32>, %[[B:.*]]: tensor<64xf32>
// CHECK: %[[U:.*]] = exec.winograd_kernel %[[W]] {tile = 4 : i64} : tensor<3x3x32x64xf32> -> tensor<36x2048xf32>
// CHECK: %[[V:.*]] = exec.winograd_kernel %[[W]] {adjoint = true, tile = 4 : i64} : tensor<3x3x32x64xf32> -> tensor<36x2048xf32>
// CHECK: exec.map_microbatches(%[[X]], %[[W]], %[[B]], %[[U]], %[[V]]
// CHECK: ^bb0(%[[XS:.*]]: tensor<?x13x13x32xf32>, %{{.*}}: tensor<3x3x32x64xf32>, %[[BS:.*]]: tensor<64xf32>, %[[US:.*]]: tensor<36x2048xf32>, %[[VS:.*]]: tensor<36x2048xf32>):
// CHECK: %[[Y:.*]], %{{.*}} = exec.winograd_conv2d %[[XS]], %[[US]], %[[BS]] {block = {{[0-9]+}} : i64, pad_low = array<i64: 0, 0>, relu, tile = 4 : i64}
// CHECK-NOT: td.relu
// CHECK: %{{.*}}, %{{.*}} = exec.winograd_input_grad %[[Y]], %[[VS]]
// CHECK: %[[DK:.*]], %{{.*}} = exec.winograd_filter_grad %[[XS]], %[[Y]]
// CHECK-NOT: td.conv2d
func.func @step(%x: tensor<?x13x13x32xf32>, %w: tensor<3x3x32x64xf32>, %b: tensor<64xf32>) -> (tensor<3x3x32x64xf32>, tensor<?x13x13x32xf32>) {
  %r:2 = exec.map_microbatches (%x, %w, %b : tensor<?x13x13x32xf32>, tensor<3x3x32x64xf32>, tensor<64xf32>) reduce [sum, keep] scope [global, global]
      lanes 16 rows 32 microbatch 32 -> (tensor<3x3x32x64xf32>, tensor<?x13x13x32xf32>) {
  ^bb0(%xs: tensor<?x13x13x32xf32>, %ws: tensor<3x3x32x64xf32>, %bs: tensor<64xf32>):
    %c = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x13x13x32xf32>, tensor<3x3x32x64xf32> -> tensor<?x11x11x64xf32> loc("conv")
    %bb = td.broadcast %bs dims [3] : tensor<64xf32> -> tensor<?x11x11x64xf32>
    %a = td.add %c, %bb : tensor<?x11x11x64xf32>
    %y = td.relu %a : tensor<?x11x11x64xf32>
    %dx = td.conv2d_input_grad %y, %ws size [13, 13] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x11x11x64xf32>, tensor<3x3x32x64xf32> -> tensor<?x13x13x32xf32>
    %dk = td.conv2d_filter_grad %xs, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x13x13x32xf32>, tensor<?x11x11x64xf32> -> tensor<3x3x32x64xf32>
    exec.yield %dk, %dx : tensor<3x3x32x64xf32>, tensor<?x13x13x32xf32>
  }
  return %r#0, %r#1 : tensor<3x3x32x64xf32>, tensor<?x13x13x32xf32>
}

// -----

// A stride of 2, a kernel of 1x1, and one channel, with which it is not faster.
// CHECK: algorithm = winograd{{.*}} why_not = "it is not faster than library by a factor of 1.1"
// CHECK-LABEL: func.func @step
// CHECK-NOT: exec.winograd_
// CHECK-COUNT-2: td.conv2d
// CHECK: exec.contraction conv2d
// CHECK-NOT: exec.winograd_
func.func @step(%x: tensor<?x13x13x32xf32>, %i: tensor<?x28x28x1xf32>, %w: tensor<3x3x32x64xf32>, %p: tensor<1x1x32x64xf32>, %f: tensor<3x3x1x32xf32>)
    -> (tensor<?x6x6x64xf32>, tensor<?x13x13x64xf32>, tensor<?x26x26x32xf32>) {
  %r:3 = exec.map_microbatches (%x, %i, %w, %p, %f : tensor<?x13x13x32xf32>, tensor<?x28x28x1xf32>, tensor<3x3x32x64xf32>, tensor<1x1x32x64xf32>, tensor<3x3x1x32xf32>)
      reduce [keep, keep, keep] scope [global, global, global]
      lanes 16 rows 32 microbatch 32 -> (tensor<?x6x6x64xf32>, tensor<?x13x13x64xf32>, tensor<?x26x26x32xf32>) {
  ^bb0(%xs: tensor<?x13x13x32xf32>, %is: tensor<?x28x28x1xf32>, %ws: tensor<3x3x32x64xf32>, %ps: tensor<1x1x32x64xf32>, %fs: tensor<3x3x1x32xf32>):
    %a = td.conv2d %xs, %ws strides [2, 2] low [0, 0] high [0, 0] : tensor<?x13x13x32xf32>, tensor<3x3x32x64xf32> -> tensor<?x6x6x64xf32>
    %b = td.conv2d %xs, %ps strides [1, 1] low [0, 0] high [0, 0] : tensor<?x13x13x32xf32>, tensor<1x1x32x64xf32> -> tensor<?x13x13x64xf32>
    %c = td.conv2d %is, %fs strides [1, 1] low [0, 0] high [0, 0] : tensor<?x28x28x1xf32>, tensor<3x3x1x32xf32> -> tensor<?x26x26x32xf32>
    exec.yield %a, %b, %c : tensor<?x6x6x64xf32>, tensor<?x13x13x64xf32>, tensor<?x26x26x32xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x6x6x64xf32>, tensor<?x13x13x64xf32>, tensor<?x26x26x32xf32>
}

// -----

// Strict float32: direct convolution only.
// CHECK: module attributes {exec.config = #exec.config<precision = strict_float32>
// CHECK-LABEL: func.func @step(
// CHECK-NOT: exec.winograd_
module attributes {exec.config = #exec.config<precision = strict_float32>} {
  func.func @step(%x: tensor<?x13x13x32xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<?x11x11x64xf32> {
    %r = exec.map_microbatches (%x, %w : tensor<?x13x13x32xf32>, tensor<3x3x32x64xf32>) reduce [keep] scope [global]
        lanes 16 rows 32 microbatch 32 -> (tensor<?x11x11x64xf32>) {
    ^bb0(%xs: tensor<?x13x13x32xf32>, %ws: tensor<3x3x32x64xf32>):
      %c = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x13x13x32xf32>, tensor<3x3x32x64xf32> -> tensor<?x11x11x64xf32>
      exec.yield %c : tensor<?x11x11x64xf32>
    }
    return %r : tensor<?x11x11x64xf32>
  }
}

// -----

// Painted convolutions keep their bfloat16 images, kernel and bias; where the CPU multiplies bfloat16 numbers the
// transformed kernel is rounded, and so are transformed tiles.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %{{.*}}: tensor<?x13x13x32xbf16>, %[[W:.*]]: tensor<3x3x32x64xbf16>
// CHECK: exec.winograd_kernel %[[W]] {{.*}} : tensor<3x3x32x64xbf16> -> tensor<{{[0-9]+}}x2048xbf16>
// CHECK: exec.winograd_conv2d {{.*}} relu{{.*}} -> (tensor<?x11x11x64xbf16>
// CHECK-NOT: td.relu
// CHECK: exec.winograd_input_grad {{.*}} -> (tensor<?x13x13x32xbf16>
// CHECK: exec.winograd_filter_grad {{.*}}bfloat16_products{{.*}} -> (tensor<3x3x32x64xf32>
// CHECK-NOT: td.conv2d
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, machine_model = "zen4", target = <bfloat16_products = true>>} {
  func.func @step(%x: tensor<?x13x13x32xbf16>, %w: tensor<3x3x32x64xbf16>, %b: tensor<64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>) {
    %r:2 = exec.map_microbatches (%x, %w, %b : tensor<?x13x13x32xbf16>, tensor<3x3x32x64xbf16>, tensor<64xbf16>) reduce [sum, keep] scope [global, global]
        lanes 16 rows 32 microbatch 32 -> (tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>) {
    ^bb0(%xs: tensor<?x13x13x32xbf16>, %ws: tensor<3x3x32x64xbf16>, %bs: tensor<64xbf16>):
      %c = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x13x13x32xbf16>, tensor<3x3x32x64xbf16> -> tensor<?x11x11x64xbf16> loc("conv")
      %bb = td.broadcast %bs dims [3] : tensor<64xbf16> -> tensor<?x11x11x64xbf16>
      %a = td.add %c, %bb : tensor<?x11x11x64xbf16>
      %y = td.relu %a : tensor<?x11x11x64xbf16>
      %dx = td.conv2d_input_grad %y, %ws size [13, 13] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x11x11x64xbf16>, tensor<3x3x32x64xbf16> -> tensor<?x13x13x32xbf16>
      %dk = td.conv2d_filter_grad %xs, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16> -> tensor<3x3x32x64xf32>
      exec.yield %dk, %dx : tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>
    }
    return %r#0, %r#1 : tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>
  }
}

// -----

// On a CPU without such instructions products are float32; a library's direct convolution on its bfloat16 rate may win.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %{{.*}}: tensor<?x13x13x32xbf16>, %[[W:.*]]: tensor<3x3x32x64xbf16>
// CHECK: exec.winograd_kernel %[[W]] {{.*}} : tensor<3x3x32x64xbf16> -> tensor<36x2048xf32>
// CHECK: exec.winograd_filter_grad
// CHECK-NOT: bfloat16_products
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, machine_model = "zen4">} {
  func.func @step(%x: tensor<?x13x13x32xbf16>, %w: tensor<3x3x32x64xbf16>, %b: tensor<64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>) {
    %r:2 = exec.map_microbatches (%x, %w, %b : tensor<?x13x13x32xbf16>, tensor<3x3x32x64xbf16>, tensor<64xbf16>) reduce [sum, keep] scope [global, global]
        lanes 16 rows 32 microbatch 32 -> (tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>) {
    ^bb0(%xs: tensor<?x13x13x32xbf16>, %ws: tensor<3x3x32x64xbf16>, %bs: tensor<64xbf16>):
      %c = td.conv2d %xs, %ws strides [1, 1] low [0, 0] high [0, 0] : tensor<?x13x13x32xbf16>, tensor<3x3x32x64xbf16> -> tensor<?x11x11x64xbf16> loc("conv")
      %bb = td.broadcast %bs dims [3] : tensor<64xbf16> -> tensor<?x11x11x64xbf16>
      %a = td.add %c, %bb : tensor<?x11x11x64xbf16>
      %y = td.relu %a : tensor<?x11x11x64xbf16>
      %dx = td.conv2d_input_grad %y, %ws size [13, 13] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x11x11x64xbf16>, tensor<3x3x32x64xbf16> -> tensor<?x13x13x32xbf16>
      %dk = td.conv2d_filter_grad %xs, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] {f32_result} : tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16> -> tensor<3x3x32x64xf32>
      exec.yield %dk, %dx : tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>
    }
    return %r#0, %r#1 : tensor<3x3x32x64xf32>, tensor<?x13x13x32xbf16>
  }
}

// -----

// A residual that the map makes is the convolution's own too, behind its bias, whatever else reads it.
// CHECK-LABEL: func.func @step(
// CHECK: ^bb0(%{{.*}}: tensor<?x14x14x64xf32>, %{{.*}}: tensor<3x3x64x64xf32>, %[[BS:[^:]*]]: tensor<64xf32>
// CHECK: %[[X:.*]] = td.tanh
// CHECK: %[[Y:.*]], %{{.*}} = exec.winograd_conv2d %[[X]], %{{[^,]*}}, %[[BS]] adds %[[X]] {{{.*}}relu
// CHECK: exec.winograd_conv2d %[[Y]], %{{[^,]*}} adds %[[X]] {
// CHECK-NOT: td.add
func.func @step(%x: tensor<?x14x14x64xf32>, %w: tensor<3x3x64x64xf32>, %b: tensor<64xf32>) -> tensor<?x14x14x64xf32> {
  %r = exec.map_microbatches (%x, %w, %b : tensor<?x14x14x64xf32>, tensor<3x3x64x64xf32>, tensor<64xf32>) reduce [keep] scope [global]
      lanes 16 rows 8 microbatch 8 -> (tensor<?x14x14x64xf32>) {
  ^bb0(%xs: tensor<?x14x14x64xf32>, %ws: tensor<3x3x64x64xf32>, %bs: tensor<64xf32>):
    %t = td.tanh %xs : tensor<?x14x14x64xf32>
    %c = td.conv2d %t, %ws strides [1, 1] low [1, 1] high [1, 1] : tensor<?x14x14x64xf32>, tensor<3x3x64x64xf32> -> tensor<?x14x14x64xf32>
    %bb = td.broadcast %bs dims [3] : tensor<64xf32> -> tensor<?x14x14x64xf32>
    %a = td.add %c, %bb : tensor<?x14x14x64xf32>
    %s = td.add %t, %a : tensor<?x14x14x64xf32>
    %y = td.relu %s : tensor<?x14x14x64xf32>
    %d = td.conv2d %y, %ws strides [1, 1] low [1, 1] high [1, 1] : tensor<?x14x14x64xf32>, tensor<3x3x64x64xf32> -> tensor<?x14x14x64xf32>
    %z = td.add %d, %t : tensor<?x14x14x64xf32>
    exec.yield %z : tensor<?x14x14x64xf32>
  }
  return %r : tensor<?x14x14x64xf32>
}
