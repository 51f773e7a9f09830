// RUN: tandem-opt %s -td-fold-batch-norm -split-input-file | FileCheck %s
// RUN: tandem-opt %s -td-fold-batch-norm -td-choose-contractions -td-paint-precision -split-input-file | FileCheck %s --check-prefix=PAINTED

// A convolution with a bias and batch norm with moving averages, as layers build them: one kernel and one bias, which
// nothing of the batch goes into.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<?x8x8x4xf32>, %[[W:.*]]: tensor<3x3x4x16xf32> {{.*}}, %[[B:.*]]: tensor<16xf32> {{.*}}, %[[GAMMA:.*]]: tensor<16xf32> {{.*}}, %[[BETA:.*]]: tensor<16xf32> {{.*}}, %[[MEAN:.*]]: tensor<16xf32> {{.*}}, %[[VAR:.*]]: tensor<16xf32>
// CHECK: %[[R:.*]] = td.rsqrt
// CHECK: %[[S:.*]] = td.mul %[[R]], %[[GAMMA]] : tensor<16xf32>
// CHECK: %[[T0:.*]] = td.sub %[[B]], %[[MEAN]] : tensor<16xf32>
// CHECK: %[[T1:.*]] = td.mul %[[T0]], %[[S]] : tensor<16xf32>
// CHECK: %[[T:.*]] = td.add %[[T1]], %[[BETA]] : tensor<16xf32>
// CHECK: %[[SW:.*]] = td.broadcast %[[S]] dims [3] : tensor<16xf32> -> tensor<3x3x4x16xf32>
// CHECK: %[[K:.*]] = td.mul %[[W]], %[[SW]] : tensor<3x3x4x16xf32>
// CHECK: %[[Y:.*]] = td.conv2d %[[X]], %[[K]] strides [1, 1] low [1, 1] high [1, 1]
// CHECK: %[[TW:.*]] = td.broadcast %[[T]] dims [3] : tensor<16xf32> -> tensor<?x8x8x16xf32>
// CHECK: %[[Z:.*]] = td.add %[[Y]], %[[TW]] : tensor<?x8x8x16xf32>
// CHECK: td.relu %[[Z]]
// CHECK-NOT: td.mul
func.func @step(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x16xf32> {td.variable = @w}, %b: tensor<16xf32> {td.variable = @b},
    %gamma: tensor<16xf32> {td.variable = @gamma}, %beta: tensor<16xf32> {td.variable = @beta}, %mean: tensor<16xf32> {td.variable = @mean},
    %var: tensor<16xf32> {td.variable = @var}) -> (tensor<?x8x8x16xf32> {td.output = "y"}) {
  %epsilon = td.constant dense<1.0e-3> : tensor<f32>
  %0 = td.conv2d %x, %w strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x4xf32>, tensor<3x3x4x16xf32> -> tensor<?x8x8x16xf32>
  %1 = td.broadcast %b dims [3] : tensor<16xf32> -> tensor<?x8x8x16xf32>
  %2 = td.add %0, %1 : tensor<?x8x8x16xf32>
  %3 = td.broadcast %epsilon dims [] : tensor<f32> -> tensor<16xf32>
  %4 = td.add %var, %3 : tensor<16xf32>
  %5 = td.rsqrt %4 : tensor<16xf32>
  %6 = td.mul %5, %gamma : tensor<16xf32>
  %7 = td.broadcast %mean dims [3] : tensor<16xf32> -> tensor<?x8x8x16xf32>
  %8 = td.sub %2, %7 : tensor<?x8x8x16xf32>
  %9 = td.broadcast %6 dims [3] : tensor<16xf32> -> tensor<?x8x8x16xf32>
  %10 = td.mul %8, %9 : tensor<?x8x8x16xf32>
  %11 = td.broadcast %beta dims [3] : tensor<16xf32> -> tensor<?x8x8x16xf32>
  %12 = td.add %10, %11 : tensor<?x8x8x16xf32>
  %13 = td.relu %12 : tensor<?x8x8x16xf32>
  return %13 : tensor<?x8x8x16xf32>
}

// -----

// In front of an unpadded convolution: its input channels are scaled, and what is added to every pixel of a window goes
// into the bias, which is there already.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<?x8x8x4xf32>, %[[W:.*]]: tensor<3x3x4x16xf32> {{.*}}, %[[B:.*]]: tensor<16xf32> {{.*}}, %[[S:.*]]: tensor<4xf32> {{.*}}, %[[T:.*]]: tensor<4xf32>
// CHECK: %[[R:.*]] = td.relu %[[X]]
// CHECK: %[[SW:.*]] = td.broadcast %[[S]] dims [2] : tensor<4xf32> -> tensor<3x3x4x16xf32>
// CHECK: %[[K:.*]] = td.mul %[[W]], %[[SW]]
// CHECK: %[[TW:.*]] = td.broadcast %[[T]] dims [2] : tensor<4xf32> -> tensor<3x3x4x16xf32>
// CHECK: %[[WT:.*]] = td.mul %[[W]], %[[TW]]
// CHECK: %[[SUM:.*]] = td.reduce sum, %[[WT]] axes [0, 1, 2] : tensor<3x3x4x16xf32> -> tensor<16xf32>
// CHECK: %[[BIAS:.*]] = td.add %[[SUM]], %[[B]] : tensor<16xf32>
// CHECK: %[[Y:.*]] = td.conv2d %[[R]], %[[K]]
// CHECK: %[[WIDE:.*]] = td.broadcast %[[BIAS]] dims [3]
// CHECK: td.add %[[Y]], %[[WIDE]]
func.func @step(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x16xf32> {td.variable = @w}, %b: tensor<16xf32> {td.variable = @b},
    %s: tensor<4xf32> {td.variable = @s}, %t: tensor<4xf32> {td.variable = @t}) -> tensor<?x6x6x16xf32> {
  %0 = td.relu %x : tensor<?x8x8x4xf32>
  %1 = td.broadcast %s dims [3] : tensor<4xf32> -> tensor<?x8x8x4xf32>
  %2 = td.mul %1, %0 : tensor<?x8x8x4xf32>
  %3 = td.broadcast %t dims [3] : tensor<4xf32> -> tensor<?x8x8x4xf32>
  %4 = td.add %2, %3 : tensor<?x8x8x4xf32>
  %5 = td.conv2d %4, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x4x16xf32> -> tensor<?x6x6x16xf32>
  %6 = td.broadcast %b dims [3] : tensor<16xf32> -> tensor<?x6x6x16xf32>
  %7 = td.add %5, %6 : tensor<?x6x6x16xf32>
  return %7 : tensor<?x6x6x16xf32>
}

// -----

// In front of a padded one only the factor is folded (here of a division by a number), not the sum: padding is zero.
// CHECK-LABEL: func.func @step
// CHECK: %[[SUM:.*]] = td.sub %arg0
// CHECK: %[[K:.*]] = td.mul %arg1, %{{.*}} : tensor<3x3x4x16xf32>
// CHECK: %[[Y:.*]] = td.conv2d %[[SUM]], %[[K]]
// CHECK: return %[[Y]]
func.func @step(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x16xf32> {td.variable = @w}, %t: tensor<4xf32> {td.variable = @t})
    -> tensor<?x8x8x16xf32> {
  %number = td.constant dense<2.55e+2> : tensor<f32>
  %0 = td.broadcast %t dims [3] : tensor<4xf32> -> tensor<?x8x8x4xf32>
  %1 = td.sub %x, %0 : tensor<?x8x8x4xf32>
  %2 = td.broadcast %number dims [] : tensor<f32> -> tensor<?x8x8x4xf32>
  %3 = td.div %1, %2 : tensor<?x8x8x4xf32>
  %4 = td.conv2d %3, %w strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x4xf32>, tensor<3x3x4x16xf32> -> tensor<?x8x8x16xf32>
  return %4 : tensor<?x8x8x16xf32>
}

// -----

// Products, of a matrix as it is and of a transposed one; a difference from a number is no link of a chain.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[W:.*]]: tensor<4x6xf32> {{.*}}, %[[V:.*]]: tensor<4x6xf32> {{.*}}, %[[S:.*]]: tensor<6xf32> {{.*}}, %[[T:.*]]: tensor<4xf32>
// CHECK: %[[SW:.*]] = td.broadcast %[[S]] dims [1] : tensor<6xf32> -> tensor<4x6xf32>
// CHECK: %[[K:.*]] = td.mul %[[W]], %[[SW]]
// CHECK: %[[Y:.*]] = td.matmul %[[X]], %[[K]]
// CHECK: %[[R:.*]] = td.relu %[[Y]]
// CHECK: %[[TV:.*]] = td.broadcast %[[T]] dims [0] : tensor<4xf32> -> tensor<4x6xf32>
// CHECK: %[[L:.*]] = td.mul %[[V]], %[[TV]]
// CHECK: %[[Z:.*]] = td.matmul %[[R]], %[[L]] {transpose_b = true}
// CHECK: td.sub %{{.*}}, %[[Z]]
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x6xf32> {td.variable = @w}, %v: tensor<4x6xf32> {td.variable = @v},
    %s: tensor<6xf32> {td.variable = @s}, %t: tensor<4xf32> {td.variable = @t}) -> tensor<?x4xf32> {
  %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x6xf32> -> tensor<?x6xf32>
  %1 = td.broadcast %s dims [1] : tensor<6xf32> -> tensor<?x6xf32>
  %2 = td.mul %0, %1 : tensor<?x6xf32>
  %3 = td.relu %2 : tensor<?x6xf32>
  %4 = td.matmul %3, %v {transpose_b = true} : tensor<?x6xf32>, tensor<4x6xf32> -> tensor<?x4xf32>
  %5 = td.broadcast %t dims [1] : tensor<4xf32> -> tensor<?x4xf32>
  %6 = td.mul %4, %5 : tensor<?x4xf32>
  %7 = td.sub %5, %6 : tensor<?x4xf32>
  return %7 : tensor<?x4xf32>
}

// -----

// Sums alone are a bias already. A factor that not all that reads the convolution wants, one from the batch, and one
// along the rows of the image stay.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-4: td.conv2d %arg0, %arg1
func.func @step(%x: tensor<?x8x8x4xf32>, %w: tensor<1x1x4x8xf32> {td.variable = @w}, %s: tensor<8xf32> {td.variable = @s})
    -> (tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>) {
  %s3 = td.broadcast %s dims [3] : tensor<8xf32> -> tensor<?x8x8x8xf32>
  %0 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<1x1x4x8xf32> -> tensor<?x8x8x8xf32>
  %1 = td.add %0, %s3 : tensor<?x8x8x8xf32>
  %2 = td.sub %1, %s3 : tensor<?x8x8x8xf32>

  %3 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<1x1x4x8xf32> -> tensor<?x8x8x8xf32>
  %4 = td.mul %3, %s3 : tensor<?x8x8x8xf32>

  %5 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<1x1x4x8xf32> -> tensor<?x8x8x8xf32>
  %6 = td.reduce max, %x axes [0, 1, 2, 3] : tensor<?x8x8x4xf32> -> tensor<f32>
  %7 = td.broadcast %6 dims [] : tensor<f32> -> tensor<?x8x8x8xf32>
  %8 = td.mul %5, %7 : tensor<?x8x8x8xf32>

  %9 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<1x1x4x8xf32> -> tensor<?x8x8x8xf32>
  %10 = td.broadcast %s dims [1] : tensor<8xf32> -> tensor<?x8x8x8xf32>
  %11 = td.mul %9, %10 : tensor<?x8x8x8xf32>
  return %2, %3, %4, %8, %11 : tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>, tensor<?x8x8x8xf32>
}

// -----

// A kernel that the step updates is not scaled in every step.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]] = td.matmul %arg0, %arg1
// CHECK: td.mul %[[Y]]
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x6xf32> {td.variable = @w}, %s: tensor<6xf32> {td.variable = @s})
    -> (tensor<?x6xf32> {td.output = "y"}, tensor<4x6xf32> {td.update = @w}) {
  %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x6xf32> -> tensor<?x6xf32>
  %1 = td.broadcast %s dims [1] : tensor<6xf32> -> tensor<?x6xf32>
  %2 = td.mul %0, %1 : tensor<?x6xf32>
  %3 = td.neg %w : tensor<4x6xf32>
  return %2, %3 : tensor<?x6xf32>, tensor<4x6xf32>
}

// -----

// Nor is one by a factor that the step updates.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]] = td.matmul %arg0, %arg1
// CHECK: td.mul %[[Y]]
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x6xf32> {td.variable = @w}, %s: tensor<6xf32> {td.variable = @s})
    -> (tensor<?x6xf32> {td.output = "y"}, tensor<6xf32> {td.update = @s}) {
  %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x6xf32> -> tensor<?x6xf32>
  %1 = td.broadcast %s dims [1] : tensor<6xf32> -> tensor<?x6xf32>
  %2 = td.mul %0, %1 : tensor<?x6xf32>
  %3 = td.neg %s : tensor<6xf32>
  return %2, %3 : tensor<?x6xf32>, tensor<6xf32>
}

// -----

// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = strict_float32>}
// CHECK: td.matmul %arg0, %arg1
module attributes {exec.config = #exec.config<precision = strict_float32>} {
  func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x6xf32> {td.variable = @w}, %s: tensor<6xf32> {td.variable = @s}) -> tensor<?x6xf32> {
    %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x6xf32> -> tensor<?x6xf32>
    %1 = td.broadcast %s dims [1] : tensor<6xf32> -> tensor<?x6xf32>
    %2 = td.mul %0, %1 : tensor<?x6xf32>
    return %2 : tensor<?x6xf32>
  }
}

// -----

// CHECK-LABEL: module attributes {exec.config = #exec.config<target = <backend = cuda>>}
// CHECK: td.matmul %arg0, %arg1
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x6xf32> {td.variable = @w}, %s: tensor<6xf32> {td.variable = @s}) -> tensor<?x6xf32> {
    %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x6xf32> -> tensor<?x6xf32>
    %1 = td.broadcast %s dims [1] : tensor<6xf32> -> tensor<?x6xf32>
    %2 = td.mul %0, %1 : tensor<?x6xf32>
    return %2 : tensor<?x6xf32>
  }
}

// -----

// In mixed precision the scaled kernel is rounded, once; the bias, though an exponential goes into it, does not keep the
// sum in float32.
// PAINTED-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16>
// PAINTED: %[[E:.*]] = td.exp
// PAINTED: %[[K:.*]] = td.mul {{.*}} : tensor<1x1x64x64xf32>
// PAINTED: td.cast %[[K]] : tensor<1x1x64x64xf32> -> tensor<1x1x64x64xbf16>
// PAINTED: %[[Y:.*]] = td.conv2d {{.*}} -> tensor<?x8x8x64xbf16>
// PAINTED: %[[Z:.*]] = td.add %[[Y]], {{.*}} : tensor<?x8x8x64xbf16>
// PAINTED: td.relu %[[Z]] : tensor<?x8x8x64xbf16>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x8x8x64xf32>, %w: tensor<1x1x64x64xf32> {td.variable = @w}, %s: tensor<64xf32> {td.variable = @s},
      %v: tensor<1x1x64x64xf32> {td.variable = @v}) -> tensor<?x8x8x64xf32> {
    %0 = td.exp %s : tensor<64xf32>
    %1 = td.broadcast %0 dims [3] : tensor<64xf32> -> tensor<?x8x8x64xf32>
    %2 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x64xf32> -> tensor<?x8x8x64xf32>
    %3 = td.sub %2, %1 : tensor<?x8x8x64xf32>
    %4 = td.mul %3, %1 : tensor<?x8x8x64xf32>
    %5 = td.relu %4 : tensor<?x8x8x64xf32>
    %6 = td.conv2d %5, %v strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x64xf32> -> tensor<?x8x8x64xf32>
    return %6 : tensor<?x8x8x64xf32>
  }
}
