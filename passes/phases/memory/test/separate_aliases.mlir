// RUN: tandem-opt %s -td-insert-copies -td-assign-buffers -td-separate-aliases -split-input-file | FileCheck %s

// The update of @w is written over it, that of @v is an output too and has a place of its own: two kernels. The third
// launch is like the first.
// CHECK: func.func private @sgd_1({{.*}}exec.alias = array<i64: -1>, exec.kernel
// CHECK: func.func private @sgd({{.*}}exec.alias = array<i64: 0>, exec.kernel
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @sgd(%arg0, %arg2)
// CHECK-NEXT: %[[V:.*]] = exec.launch @sgd_1(%arg1, %arg2)
// CHECK-NEXT: exec.launch @sgd(%arg3, %arg2)
func.func private @sgd(%w: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %w, %g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @step(%w: tensor<4xf32> {td.variable = @w}, %v: tensor<4xf32> {td.variable = @v}, %g: tensor<4xf32> {td.variable = @g},
                %u: tensor<4xf32> {td.variable = @u})
    -> (tensor<4xf32> {td.update = @w}, tensor<4xf32> {td.update = @v}, tensor<4xf32> {td.output = "v"}, tensor<4xf32> {td.update = @u}) {
  %0 = exec.launch @sgd(%w, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = exec.launch @sgd(%v, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = exec.launch @sgd(%u, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Of a group the members are alike: the first one's operands say it.
// CHECK: func.func private @momentum({{.*}}exec.alias = array<i64: 0, 1>, exec.kernel
// CHECK-LABEL: func.func @step
// CHECK: exec.grouped_launch @momentum x 1
func.func private @momentum(%w: tensor<4xf32>, %m: tensor<4xf32>, %g: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.add %m, %g : tensor<4xf32>
  %1 = td.sub %w, %0 : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
func.func @step(%w: tensor<4xf32> {td.variable = @w}, %m: tensor<4xf32> {td.variable = @m}, %g: tensor<4xf32> {td.variable = @g})
    -> (tensor<4xf32> {td.update = @w}, tensor<4xf32> {td.update = @m}) {
  %u:2 = exec.grouped_launch @momentum x 1(%w, %m, %g) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %u#0, %u#1 : tensor<4xf32>, tensor<4xf32>
}
