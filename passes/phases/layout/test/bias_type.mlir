// RUN: tandem-opt %s -td-select-libraries -cse | FileCheck %s

// A GPU's libraries take a bias in the type of the result, as the kernel that rounds all variables leaves it.
// CHECK-LABEL: func.func @step(
// CHECK: %[[B:.*]] = td.cast %{{.*}} : tensor<32xf32> -> tensor<32xbf16>
// CHECK: exec.map_microbatches(%{{[^:]*}}, %[[B]] :
// CHECK: exec.library_call({{.*}}) #exec.matmul<{{.*}}epilogue = <bias = true>>
// CHECK-SAME: tensor<32xbf16>) -> tensor<?x32xbf16>
// CHECK-NOT: td.broadcast
// CHECK: exec.yield
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
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
