// RUN: tandem-opt %s -td-outline-contractions | FileCheck %s

// Bias and relu go along; what follows does not. Few taps are left to fusions.
// CHECK: exec.map_microbatches
// CHECK: ^bb0(%[[X:.*]]: tensor<?x8x8x3xf32>, %[[K:.*]]: tensor<3x3x3x32xf32>, %[[B:.*]]: tensor<32xf32>,
// CHECK: %[[Y:.*]] = exec.launch @direct_conv(%[[X]], %[[K]], %[[B]]) : (tensor<?x8x8x3xf32>, tensor<3x3x3x32xf32>, tensor<32xf32>) -> tensor<?x8x8x32xf32>
// CHECK-NOT: td.relu
// CHECK: td.tanh %[[Y]]
// CHECK: exec.contraction conv2d {{.*}} by few_taps
// CHECK: func.func private @direct_conv({{.*}}) -> tensor<?x8x8x32xf32> attributes {exec.kernel = #exec.kernel_kind<loop>}
// CHECK-NEXT: exec.contraction conv2d {{.*}} by low_channel
// CHECK-NEXT: td.broadcast
// CHECK-NEXT: td.add
// CHECK-NEXT: td.relu
// CHECK-NEXT: return
func.func @step(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x32xf32>, %b: tensor<32xf32>, %t: tensor<2x2x3x32xf32>)
    -> (tensor<?x8x8x32xf32>, tensor<?x7x7x32xf32>) {
  %r:2 = exec.map_microbatches (%x, %k, %b, %t : tensor<?x8x8x3xf32>, tensor<3x3x3x32xf32>, tensor<32xf32>, tensor<2x2x3x32xf32>)
      reduce [keep, keep] scope [global, global] lanes 8 rows 4 microbatch 4 -> (tensor<?x8x8x32xf32>, tensor<?x7x7x32xf32>) {
  ^bb0(%xs: tensor<?x8x8x3xf32>, %ks: tensor<3x3x3x32xf32>, %bs: tensor<32xf32>, %ts: tensor<2x2x3x32xf32>):
    %0 = exec.contraction conv2d %xs, %ks by low_channel strides [1, 1] low [1, 1] high [1, 1] : (tensor<?x8x8x3xf32>, tensor<3x3x3x32xf32>) -> tensor<?x8x8x32xf32>
    %1 = td.broadcast %bs dims [3] : tensor<32xf32> -> tensor<?x8x8x32xf32>
    %2 = td.add %0, %1 : tensor<?x8x8x32xf32>
    %3 = td.relu %2 : tensor<?x8x8x32xf32>
    %4 = td.tanh %3 : tensor<?x8x8x32xf32>
    %5 = exec.contraction conv2d %xs, %ts by few_taps strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x8x8x3xf32>, tensor<2x2x3x32xf32>) -> tensor<?x7x7x32xf32>
    exec.yield %4, %5 : tensor<?x8x8x32xf32>, tensor<?x7x7x32xf32>
  }
  return %r#0, %r#1 : tensor<?x8x8x32xf32>, tensor<?x7x7x32xf32>
}
