// RUN: tandem-opt %s -td-assign-buffers -td-insert-lane-reductions -td-mark-inline -td-join-lanes -split-input-file | FileCheck %s

func.func private @neg(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.neg %x : tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// 8 lanes of 16 rows each: the product with a matrix that is read where it lies is computed once for two lanes; one with
// a packed matrix and other commands run for one lane and then for the next.
// CHECK-LABEL: func.func @step
// CHECK: exec.map_microbatches
// CHECK-SAME: exec.execution = #exec.execution<lanes_together = 2>
// CHECK: exec.launch @neg({{.*}}) {exec.out
// CHECK-NEXT: exec.library_call({{.*}}) #exec.matmul<> by unpacked_gemm {exec.execution = #exec.execution<joint = true>
// CHECK-NEXT: exec.library_call({{.*}}) #exec.matmul<> by library {exec.out
func.func @step(%x: tensor<?x64xf32> {td.input = "x"}, %w: tensor<64x64xf32> {td.variable = @w}) -> (tensor<?x64xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) reduce [keep] scope [replica] lanes 8 rows 16 microbatch 16 -> (tensor<?x64xf32>) {
  ^bb0(%xs: tensor<?x64xf32>, %ws: tensor<64x64xf32>):
    %a = exec.launch @neg(%xs) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    %b = exec.library_call(%a, %ws) #exec.matmul<> by unpacked_gemm
        : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %c = exec.library_call(%b, %ws) #exec.matmul<> by library
        : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    exec.yield %c : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// -----

// 64 rows each: a product of more reads the matrix no faster.
// CHECK-LABEL: func.func @step
// CHECK-NOT: joint
// CHECK-NOT: lanes_together
func.func @step(%x: tensor<?x64xf32> {td.input = "x"}, %w: tensor<64x64xf32> {td.variable = @w}) -> (tensor<?x64xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) reduce [keep] scope [replica] lanes 8 rows 64 microbatch 64 -> (tensor<?x64xf32>) {
  ^bb0(%xs: tensor<?x64xf32>, %ws: tensor<64x64xf32>):
    %b = exec.library_call(%xs, %ws) #exec.matmul<> by unpacked_gemm
        : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    exec.yield %b : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// -----

// A lane of two microbatches is no task by itself.
// CHECK-LABEL: func.func @step
// CHECK-NOT: joint
// CHECK-NOT: lanes_together
func.func @step(%x: tensor<?x64xf32> {td.input = "x"}, %w: tensor<64x64xf32> {td.variable = @w}) -> (tensor<?x64xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) reduce [keep] scope [replica] lanes 8 rows 16 microbatch 8 -> (tensor<?x64xf32>) {
  ^bb0(%xs: tensor<?x64xf32>, %ws: tensor<64x64xf32>):
    %b = exec.library_call(%xs, %ws) #exec.matmul<> by unpacked_gemm
        : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    exec.yield %b : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}
