// A step of a convolution through all phases for GPUs.
// RUN: tandem-opt %s --target=cuda:sm_90 --compile-to=distribute | FileCheck %s --check-prefix=DISTRIBUTE
// RUN: tandem-opt %s --target=cuda:sm_90 --compile-to=layout | FileCheck %s --check-prefix=LAYOUT
// RUN: tandem-opt %s --target=cuda:sm_90 --compile-to=memory | FileCheck %s --check-prefix=MEMORY
// RUN: not tandem-opt %s --target=cuda:sm_13 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: unknown target "cuda:sm_13"; known are cpu:native, cpu:x86-64-v3,{{.*}} cuda:sm_90,

// One lane and microbatch per replica. A product with one column fuses with its neighbours.
// DISTRIBUTE: exec.microbatch_choice = "one lane and microbatch per replica
// DISTRIBUTE: exec.replica @replica_1 device("gpu:1") body(@step)
// DISTRIBUTE: exec.map_microbatches({{.*}} lanes 2 rows 64 microbatch 64
// DISTRIBUTE-NOT: td.matmul

// A convolution of few taps is a part of a generated kernel. No Winograd: the others are cuDNN's, and their kernels are
// packed once per step, as it wants them.
// LAYOUT-NOT: exec.winograd
// LAYOUT: exec.library_call({{.*}}) #exec.pack_weights<reader = {{.*}}kernel_shape = [3, 3, 16, 32]{{.*}}as "kernel"
// LAYOUT-NOT: exec.winograd
// LAYOUT: exec.contraction conv2d {{.*}}tensor<3x3x1x16xf32>
// LAYOUT: exec.library_call({{.*}}) #exec.conv2d<{{.*}}kernel_shape = [3, 3, 16, 32]{{.*}}as "cudnn"
// LAYOUT-NOT: exec.winograd
// LAYOUT: exec.library_call({{.*}}) #exec.conv2d<direction = filter_grad{{.*}}as "cudnn"

// Sums lie in the step arena, where the all-reduce works on them; there are no lane slots. Buffers begin at multiples of
// 256 bytes.
// MEMORY: exec.arenas = #exec.arenas<microbatch = {{[0-9]+}}, step = {{[0-9]+}}
// MEMORY-NOT: space = lane
// MEMORY-SAME: #exec.buffer<name = "grad2", space = step, offset = 18432, bytes = 18432
// MEMORY-SAME: #exec.buffer<name = "loss1", space = step, offset = 36864, bytes = 4
// MEMORY-SAME: #exec.buffer<name = "loss2", space = step, offset = 37120, bytes = 4
// MEMORY-NOT: space = lane
// MEMORY: exec.map_microbatches
// MEMORY: exec.all_reduce

module attributes {exec.config = #exec.config<mode = "train", devices = ["gpu:0", "gpu:1"], batch = 64>} {
  td.variable @k1 : tensor<3x3x1x16xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  td.variable @b1 : tensor<16xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  td.variable @k2 : tensor<3x3x16x32xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  td.variable @w : tensor<4x1xf32> {initializer = [2.0, -0.1, 0.1], trainable}
  func.func @main() {
    %x = td.input "x" : tensor<?x10x10x1xf32>
    %z = td.input "z" : tensor<?x4xf32>
    %lr = td.scalar "learning_rate" : tensor<f32>
    %k1 = td.read @k1 : tensor<3x3x1x16xf32>
    %b1 = td.read @b1 : tensor<16xf32>
    %k2 = td.read @k2 : tensor<3x3x16x32xf32>
    %w = td.read @w : tensor<4x1xf32>
    %c1 = td.conv2d %x, %k1 strides [1, 1] low [0, 0] high [0, 0] : tensor<?x10x10x1xf32>, tensor<3x3x1x16xf32> -> tensor<?x8x8x16xf32>
    %bb = td.broadcast %b1 dims [3] : tensor<16xf32> -> tensor<?x8x8x16xf32>
    %a1 = td.add %c1, %bb : tensor<?x8x8x16xf32>
    %r1 = td.relu %a1 : tensor<?x8x8x16xf32>
    %c2 = td.conv2d %r1, %k2 strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xf32>, tensor<3x3x16x32xf32> -> tensor<?x6x6x32xf32>
    %g2 = td.conv2d_filter_grad %r1, %c2 size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x16xf32>, tensor<?x6x6x32xf32> -> tensor<3x3x16x32xf32> loc("grad2")
    %p = td.matmul %z, %w : tensor<?x4xf32>, tensor<4x1xf32> -> tensor<?x1xf32>
    %l1 = td.reduce sum, %c2 axes [0, 1, 2, 3] : tensor<?x6x6x32xf32> -> tensor<f32> loc("loss1")
    %l2 = td.reduce sum, %p axes [0, 1] : tensor<?x1xf32> -> tensor<f32> loc("loss2")
    %loss = td.add %l1, %l2 : tensor<f32>
    %v2 = td.apply_sgd %k2, %g2, %lr : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>, tensor<f32>) -> tensor<3x3x16x32xf32>
    td.assign @k2, %v2 : tensor<3x3x16x32xf32>
    td.output "loss", %loss : tensor<f32>
    return
  }
}
