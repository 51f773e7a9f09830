// RUN: tandem-opt %s -td-assign-buffers -td-insert-lane-reductions -td-mark-inline -split-input-file | FileCheck %s

func.func private @col(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Little to do, and nothing but calls: one list.
// CHECK: module attributes {
// CHECK-SAME: exec.flat
// CHECK: exec.map_microbatches
// CHECK-SAME: exec.execution = #exec.execution<run_inline = true>
// CHECK: exec.lane_reduce sum {{.*}}exec.execution = #exec.execution<run_inline = true>
// CHECK-NEXT: exec.launch @neg({{.*}}) {exec.execution = #exec.execution<run_inline = true>
func.func @step(%x: tensor<?x16xf32> {td.input = "x"}) -> (tensor<16xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [sum] scope [global] lanes 8 rows 4 microbatch 4 -> (tensor<16xf32>) {
  ^bb0(%xs: tensor<?x16xf32>):
    %s = exec.launch @col(%xs) : (tensor<?x16xf32>) -> tensor<16xf32>
    exec.yield %s : tensor<16xf32>
  }
  %y = exec.launch @neg(%r) : (tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

func.func private @col(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// A lane of two microbatches adds them up between its calls: little to do, but no list.
// CHECK: module attributes {
// CHECK-NOT: exec.flat
// CHECK: exec.map_microbatches
// CHECK-SAME: exec.execution = #exec.execution<run_inline = true>
func.func @step(%x: tensor<?x16xf32> {td.input = "x"}) -> (tensor<16xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [sum] scope [global] lanes 8 rows 4 microbatch 2 -> (tensor<16xf32>) {
  ^bb0(%xs: tensor<?x16xf32>):
    %s = exec.launch @col(%xs) : (tensor<?x16xf32>) -> tensor<16xf32>
    exec.yield %s : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// -----

func.func private @col(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @neg(%x: tensor<40000xf32>) -> tensor<40000xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<40000xf32>
  return %0 : tensor<40000xf32>
}
func.func private @sum(%x: tensor<40000xf32>) -> tensor<f32> attributes {exec.kernel = #exec.kernel_kind<once>} {
  %0 = td.reduce sum, %x axes [0] : tensor<40000xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// 8 lanes of 64 rows of 16 are as many elements as are worth threads, and so are 40000 of an elementwise kernel. A
// kernel that is one task wakes nobody, however much it reads.
// CHECK: module attributes {
// CHECK-NOT: exec.flat
// CHECK: exec.map_microbatches
// CHECK-NOT: exec.execution
// CHECK: exec.yield
// CHECK: exec.lane_reduce sum {{.*}}exec.execution = #exec.execution<run_inline = true>
// CHECK: exec.launch @neg({{.*}}) {exec.out
// CHECK-NEXT: exec.launch @sum({{.*}}) {exec.execution = #exec.execution<run_inline = true>
func.func @step(%x: tensor<?x16xf32> {td.input = "x"}, %w: tensor<40000xf32> {td.variable = @w})
    -> (tensor<16xf32> {td.output = "y"}, tensor<f32> {td.output = "z"}) {
  %r = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [sum] scope [global] lanes 8 rows 64 microbatch 64 -> (tensor<16xf32>) {
  ^bb0(%xs: tensor<?x16xf32>):
    %s = exec.launch @col(%xs) : (tensor<?x16xf32>) -> tensor<16xf32>
    exec.yield %s : tensor<16xf32>
  }
  %n = exec.launch @neg(%w) : (tensor<40000xf32>) -> tensor<40000xf32>
  %s = exec.launch @sum(%n) : (tensor<40000xf32>) -> tensor<f32>
  return %r, %s : tensor<16xf32>, tensor<f32>
}
