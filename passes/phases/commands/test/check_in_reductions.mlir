// RUN: tandem-opt %s -td-assign-buffers -td-check-in-reductions -split-input-file | FileCheck %s

// All results are checked.
// CHECK-LABEL: func.func @step
// CHECK: exec.all_reduce sum %{{.*}} {{{.*}}checks
// CHECK: exec.check_finite
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func private @neg(%x: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.neg %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  td.variable @v : tensor<8xf32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%v: tensor<8xf32> {td.variable = @v}) -> (tensor<8xf32> {td.update = @v}) {
    %g = exec.launch @neg(%v) : (tensor<8xf32>) -> tensor<8xf32>
    %s = exec.all_reduce sum %g {bucket = 0 : i64} : tensor<8xf32> -> tensor<8xf32>
    exec.check_finite %s : tensor<8xf32>
    %u = exec.launch @neg(%s) : (tensor<8xf32>) -> tensor<8xf32>
    return %u : tensor<8xf32>
  }
}

// -----

// One result is not, and another all-reduce is by cross-device ops of the user.
// CHECK-LABEL: func.func @step
// CHECK-NOT: checks
// CHECK: exec.check_finite
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func private @neg(%x: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.neg %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  td.variable @v : tensor<8xf32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%v: tensor<8xf32> {td.variable = @v})
      -> (tensor<8xf32> {td.update = @v}, tensor<8xf32> {td.output = "statistic"}) {
    %g = exec.launch @neg(%v) : (tensor<8xf32>) -> tensor<8xf32>
    %h = exec.launch @neg(%v) : (tensor<8xf32>) -> tensor<8xf32>
    %i = exec.launch @neg(%v) : (tensor<8xf32>) -> tensor<8xf32>
    %s:2 = exec.all_reduce sum %g, %h {bucket = 0 : i64} : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
    %t = exec.all_reduce sum %i {algorithm = "Mine", bucket = 1 : i64} : tensor<8xf32> -> tensor<8xf32>
    exec.check_finite %s#0, %t : tensor<8xf32>, tensor<8xf32>
    %u = exec.launch @neg(%s#0) : (tensor<8xf32>) -> tensor<8xf32>
    return %u, %s#1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// On one device nothing is combined.
// CHECK-LABEL: func.func @step
// CHECK-NOT: checks
// CHECK: exec.check_finite
func.func private @neg(%x: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
td.variable @v : tensor<8xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%v: tensor<8xf32> {td.variable = @v}) -> (tensor<8xf32> {td.update = @v}) {
  %g = exec.launch @neg(%v) : (tensor<8xf32>) -> tensor<8xf32>
  %s = exec.all_reduce sum %g {bucket = 0 : i64} : tensor<8xf32> -> tensor<8xf32>
  exec.check_finite %s : tensor<8xf32>
  %u = exec.launch @neg(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %u : tensor<8xf32>
}
