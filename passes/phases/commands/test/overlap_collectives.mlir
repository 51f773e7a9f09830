// RUN: tandem-opt %s -td-assign-buffers -td-mark-inline -td-overlap-collectives -split-input-file | FileCheck %s

// The first sum is under way while the second gradient is computed; the reader of the first sum makes way. Nothing but
// the check follows the second one.
// CHECK-LABEL: func.func @step
// CHECK: %[[G:.*]] = exec.launch @large(%arg0)
// CHECK-NEXT: %[[S:.*]] = exec.all_reduce sum %[[G]] {{{.*}}exec.execution = #exec.execution<overlap = 2>
// CHECK-NEXT: exec.launch @large(%arg1)
// CHECK-NEXT: exec.all_reduce sum
// CHECK-NOT: overlap
// CHECK-NEXT: exec.launch @mean(%[[S]])
// CHECK-NEXT: exec.check_finite
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func private @large(%x: tensor<40000xf32>) -> tensor<40000xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.neg %x : tensor<40000xf32>
    return %0 : tensor<40000xf32>
  }
  func.func private @mean(%x: tensor<40000xf32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {
    %0 = td.reduce sum, %x axes [0] : tensor<40000xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
  td.variable @v : tensor<40000xf32> {initializer = [0.0, 0.0, 0.0]}
  td.variable @w : tensor<40000xf32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%v: tensor<40000xf32> {td.variable = @v}, %w: tensor<40000xf32> {td.variable = @w})
      -> (tensor<f32> {td.output = "mean"}, tensor<40000xf32> {td.output = "h"}) {
    %g = exec.launch @large(%v) : (tensor<40000xf32>) -> tensor<40000xf32>
    %s = exec.all_reduce sum %g {bucket = 0 : i64} : tensor<40000xf32> -> tensor<40000xf32>
    %m = exec.launch @mean(%s) : (tensor<40000xf32>) -> tensor<f32>
    %h = exec.launch @large(%w) : (tensor<40000xf32>) -> tensor<40000xf32>
    %t = exec.all_reduce sum %h {bucket = 1 : i64} : tensor<40000xf32> -> tensor<40000xf32>
    exec.check_finite %s, %t : tensor<40000xf32>, tensor<40000xf32>
    return %m, %t : tensor<f32>, tensor<40000xf32>
  }
}

// -----

// The command behind it reads the sum and has work of its own: it stays, and nothing overlaps.
// CHECK-LABEL: func.func @step
// CHECK-NOT: overlap
// CHECK: return
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func private @large(%x: tensor<40000xf32>) -> tensor<40000xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.neg %x : tensor<40000xf32>
    return %0 : tensor<40000xf32>
  }
  td.variable @v : tensor<40000xf32> {initializer = [0.0, 0.0, 0.0]}
  td.variable @w : tensor<40000xf32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%v: tensor<40000xf32> {td.variable = @v}, %w: tensor<40000xf32> {td.variable = @w})
      -> (tensor<40000xf32> {td.output = "m"}, tensor<40000xf32> {td.output = "h"}) {
    %g = exec.launch @large(%v) : (tensor<40000xf32>) -> tensor<40000xf32>
    %s = exec.all_reduce sum %g {bucket = 0 : i64} : tensor<40000xf32> -> tensor<40000xf32>
    %m = exec.launch @large(%s) : (tensor<40000xf32>) -> tensor<40000xf32>
    %h = exec.launch @large(%w) : (tensor<40000xf32>) -> tensor<40000xf32>
    exec.check_finite %s : tensor<40000xf32>
    return %m, %h : tensor<40000xf32>, tensor<40000xf32>
  }
}

// -----

// Cross-device ops of the user are left alone.
// CHECK-LABEL: func.func @step
// CHECK-NOT: overlap
// CHECK: return
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func private @large(%x: tensor<40000xf32>) -> tensor<40000xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.neg %x : tensor<40000xf32>
    return %0 : tensor<40000xf32>
  }
  td.variable @v : tensor<40000xf32> {initializer = [0.0, 0.0, 0.0]}
  td.variable @w : tensor<40000xf32> {initializer = [0.0, 0.0, 0.0]}
  func.func @step(%v: tensor<40000xf32> {td.variable = @v}, %w: tensor<40000xf32> {td.variable = @w})
      -> (tensor<40000xf32> {td.output = "s"}, tensor<40000xf32> {td.output = "h"}) {
    %g = exec.launch @large(%v) : (tensor<40000xf32>) -> tensor<40000xf32>
    %s = exec.all_reduce sum %g {algorithm = "Mine", bucket = 0 : i64} : tensor<40000xf32> -> tensor<40000xf32>
    %h = exec.launch @large(%w) : (tensor<40000xf32>) -> tensor<40000xf32>
    exec.check_finite %s : tensor<40000xf32>
    return %s, %h : tensor<40000xf32>, tensor<40000xf32>
  }
}
