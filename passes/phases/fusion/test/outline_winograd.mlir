// RUN: tandem-opt %s -td-outline-contractions -td-form-fusions -td-outline-kernels | FileCheck %s

// A transform of a kernel is split by elements, a convolution over the rows of a microbatch; each is a kernel of its
// own.
// CHECK: %[[U:.*]] = exec.launch @kernel_0(%{{.*}}) : (tensor<3x3x16x16xf32>) -> tensor<36x256xf32>
// CHECK: exec.map_microbatches
// CHECK: exec.launch @kernel_1(%{{.*}}, %{{.*}}) : (tensor<?x8x8x16xf32>, tensor<36x256xf32>) -> (tensor<?x8x8x16xf32>, tensor<124416xui8>)
// CHECK: exec.launch @kernel_2
// CHECK: func.func private @kernel_0({{.*}}) -> tensor<36x256xf32> attributes {exec.kernel = #exec.kernel_kind<split>}
// CHECK-NEXT: exec.winograd_kernel
// CHECK-NEXT: return
// CHECK: func.func private @kernel_1({{.*}}) -> (tensor<?x8x8x16xf32>, tensor<124416xui8>) attributes {exec.kernel = #exec.kernel_kind<tile>}
// CHECK-NEXT: exec.winograd_conv2d
// CHECK-NEXT: return
// CHECK: func.func private @kernel_2({{.*}}exec.kernel = #exec.kernel_kind<loop>
func.func @step(%x: tensor<?x8x8x16xf32>, %w: tensor<3x3x16x16xf32>) -> tensor<?x8x8x16xf32> {
  %u = exec.winograd_kernel %w {tile = 4} : tensor<3x3x16x16xf32> -> tensor<36x256xf32>
  %r = exec.map_microbatches (%x, %u : tensor<?x8x8x16xf32>, tensor<36x256xf32>) reduce [keep] scope [global]
      lanes 8 rows 4 microbatch 4 -> (tensor<?x8x8x16xf32>) {
  ^bb0(%xs: tensor<?x8x8x16xf32>, %us: tensor<36x256xf32>):
    %y, %scratch = exec.winograd_conv2d %xs, %us {tile = 4, block = 10, pad_low = array<i64: 1, 1>}
        : (tensor<?x8x8x16xf32>, tensor<36x256xf32>) -> (tensor<?x8x8x16xf32>, tensor<124416xui8>)
    %z = td.tanh %y : tensor<?x8x8x16xf32>
    exec.yield %z : tensor<?x8x8x16xf32>
  }
  return %r : tensor<?x8x8x16xf32>
}
