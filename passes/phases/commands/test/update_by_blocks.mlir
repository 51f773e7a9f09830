// RUN: tandem-opt %s -td-assign-buffers -td-update-by-blocks -split-input-file | FileCheck %s

func.func private @gradient(%x: tensor<64x32xf32>, %dy: tensor<64x16xf32>) -> tensor<32x16xf32>
    attributes {exec.kernel = #exec.kernel_kind<block>} {
  %0 = td.matmul %x, %dy {transpose_a = true} : tensor<64x32xf32>, tensor<64x16xf32> -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
func.func private @momentum(%w: tensor<32x16xf32>, %m: tensor<32x16xf32>, %g: tensor<32x16xf32>)
    -> (tensor<32x16xf32>, tensor<32x16xf32>) attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.add %m, %g : tensor<32x16xf32>
  %1 = td.sub %w, %0 : tensor<32x16xf32>
  return %1, %0 : tensor<32x16xf32>, tensor<32x16xf32>
}

// A block of the gradient goes through the update with the blocks of what lies like it: the variable, the slot and the
// first result.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @gradient({{.*}}) {exec.block_update = #exec.block_update<check = 0, member = 0, argument = 2,
// CHECK-SAME: fetched = [0, 1, 3]>
func.func @step(%x: tensor<64x32xf32> {td.variable = @x}, %dy: tensor<64x16xf32> {td.variable = @dy},
                %w: tensor<32x16xf32> {td.variable = @w}, %m: tensor<32x16xf32> {td.variable = @m})
    -> (tensor<32x16xf32> {td.update = @w}, tensor<32x16xf32> {td.update = @m}) {
  %g = exec.launch @gradient(%x, %dy) : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  exec.check_finite %g : tensor<32x16xf32>
  %u:2 = exec.grouped_launch @momentum x 1(%w, %m, %g) : (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>)
  return %u#0, %u#1 : tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

func.func private @gradient(%x: tensor<64x32xf32>, %dy: tensor<64x16xf32>) -> tensor<32x16xf32>
    attributes {exec.kernel = #exec.kernel_kind<block>} {
  %0 = td.matmul %x, %dy {transpose_a = true} : tensor<64x32xf32>, tensor<64x16xf32> -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
func.func private @sgd(%w: tensor<32x16xf32>, %g: tensor<32x16xf32>) -> tensor<32x16xf32>
    attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %w, %g : tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// A gradient that is fetched too has to be stored.
// CHECK-LABEL: func.func @step
// CHECK-NOT: exec.block_update
func.func @step(%x: tensor<64x32xf32> {td.variable = @x}, %dy: tensor<64x16xf32> {td.variable = @dy},
                %w: tensor<32x16xf32> {td.variable = @w})
    -> (tensor<32x16xf32> {td.update = @w}, tensor<32x16xf32> {td.output = "gradient"}) {
  %g = exec.launch @gradient(%x, %dy) : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  exec.check_finite %g : tensor<32x16xf32>
  %u = exec.grouped_launch @sgd x 1(%w, %g) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %u, %g : tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// On several devices the gradient's parts are summed before the update.
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func private @gradient(%x: tensor<64x32xf32>, %dy: tensor<64x16xf32>) -> tensor<32x16xf32>
      attributes {exec.kernel = #exec.kernel_kind<block>} {
    %0 = td.matmul %x, %dy {transpose_a = true} : tensor<64x32xf32>, tensor<64x16xf32> -> tensor<32x16xf32>
    return %0 : tensor<32x16xf32>
  }
  func.func private @sgd(%w: tensor<32x16xf32>, %g: tensor<32x16xf32>) -> tensor<32x16xf32>
      attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.sub %w, %g : tensor<32x16xf32>
    return %0 : tensor<32x16xf32>
  }
  // CHECK-LABEL: func.func @step
  // CHECK-NOT: exec.block_update
  func.func @step(%x: tensor<64x32xf32> {td.variable = @x}, %dy: tensor<64x16xf32> {td.variable = @dy},
                  %w: tensor<32x16xf32> {td.variable = @w}) -> (tensor<32x16xf32> {td.update = @w}) {
    %g = exec.launch @gradient(%x, %dy) : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
    exec.check_finite %g : tensor<32x16xf32>
    %u = exec.grouped_launch @sgd x 1(%w, %g) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    return %u : tensor<32x16xf32>
  }
}
