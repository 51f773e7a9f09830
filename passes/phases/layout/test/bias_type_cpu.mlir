// oneDNN multiplies bfloat16 matrices with AVX-512 only.
// REQUIRES: avx512
// RUN: tandem-opt %s -td-select-libraries -cse | FileCheck %s

// A CPU's adds it to the float32 sum: nobody reads the rounded one any more, and its cast goes.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<32xf32>
// CHECK-NOT: td.cast
// CHECK: exec.map_microbatches(%{{[^:]*}}, %[[B]], %{{[^:]*}} :
// CHECK: exec.library_call({{.*}}) #exec.matmul<{{.*}}epilogue = <bias = true>>
// CHECK-SAME: tensor<32xf32>) -> tensor<?x32xbf16>
// CHECK-NOT: td.broadcast
// CHECK: exec.yield
module {
func.func @step(%x: tensor<?x16xbf16>, %w: tensor<16x32xbf16>, %b: tensor<32xf32>) -> tensor<f32> {
  %c = td.cast %b : tensor<32xf32> -> tensor<32xbf16>
  %r = exec.map_microbatches (%x, %w, %c : tensor<?x16xbf16>, tensor<16x32xbf16>, tensor<32xbf16>) reduce [sum] scope [global]
      lanes 1 rows 4 microbatch 4 -> (tensor<f32>) {
  ^bb0(%xs: tensor<?x16xbf16>, %ws: tensor<16x32xbf16>, %bs: tensor<32xbf16>):
    %y = td.matmul %xs, %ws : tensor<?x16xbf16>, tensor<16x32xbf16> -> tensor<?x32xbf16>
    %bb = td.broadcast %bs dims [1] : tensor<32xbf16> -> tensor<?x32xbf16>
    %z = td.add %y, %bb : tensor<?x32xbf16>
    %f = td.cast %z : tensor<?x32xbf16> -> tensor<?x32xf32>
    %s = td.reduce sum, %f axes [0, 1] : tensor<?x32xf32> -> tensor<f32>
    exec.yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}
}
