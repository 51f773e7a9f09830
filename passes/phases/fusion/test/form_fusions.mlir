// RUN: tandem-opt %s -split-input-file -td-form-fusions -td-outline-kernels | FileCheck %s

// Bias and relu: one kernel; the broadcast is part of it.
// CHECK-LABEL: func.func @bias_relu
// CHECK-NEXT: exec.launch @kernel_0(
// CHECK-NEXT: return
// CHECK: func.func private @kernel_0({{.*}}) -> tensor<?x8xf32> attributes {exec.kernel = #exec.kernel_kind<loop>}
func.func @bias_relu(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = td.broadcast %b dims [1] : tensor<8xf32> -> tensor<?x8xf32>
  %1 = td.add %x, %0 : tensor<?x8xf32>
  %2 = td.relu %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// Softmax cross-entropy with its gradient, the accuracy and all sums: one kernel.
// CHECK-LABEL: func.func @xent
// CHECK: exec.launch @kernel_0
// CHECK-NOT: exec.launch
// CHECK: return
// CHECK: func.func private @kernel_0
// CHECK-SAME: exec.kernel = #exec.kernel_kind<col>
// CHECK-NOT: func.func
func.func @xent(%x: tensor<?x10xf32>, %label: tensor<?xi64>) -> (tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<10xf32>) {
  %hot = td.one_hot %label : tensor<?xi64> -> tensor<?x10xf32>
  %m = td.reduce max, %x axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %mb = td.broadcast %m dims [0] : tensor<?xf32> -> tensor<?x10xf32>
  %d = td.sub %x, %mb : tensor<?x10xf32>
  %e = td.exp %d : tensor<?x10xf32>
  %s = td.reduce sum, %e axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %log = td.log %s : tensor<?xf32>
  %dh = td.mul %d, %hot : tensor<?x10xf32>
  %at = td.reduce sum, %dh axes [1] : tensor<?x10xf32> -> tensor<?xf32>
  %loss = td.sub %log, %at : tensor<?xf32>
  %sb = td.broadcast %s dims [0] : tensor<?xf32> -> tensor<?x10xf32>
  %p = td.div %e, %sb : tensor<?x10xf32>
  %g = td.sub %p, %hot : tensor<?x10xf32>
  %best = td.argmax %x axis 1 : tensor<?x10xf32> -> tensor<?xi64>
  %eq = td.compare eq, %best, %label : tensor<?xi64> -> tensor<?xi1>
  %hit = td.cast %eq : tensor<?xi1> -> tensor<?xf32>
  %total = td.reduce sum, %loss axes [0] : tensor<?xf32> -> tensor<f32>
  %hits = td.reduce sum, %hit axes [0] : tensor<?xf32> -> tensor<f32>
  %db = td.reduce sum, %g axes [0] : tensor<?x10xf32> -> tensor<10xf32>
  return %g, %total, %hits, %db : tensor<?x10xf32>, tensor<f32>, tensor<f32>, tensor<10xf32>
}

// -----

// The activation is computed again in the backward kernel, from the value that the forward kernel read; the matmul
// between the two keeps them apart. The bias gradient and the gradient it sums come from one kernel.
// CHECK-LABEL: func.func @recompute
// CHECK: %[[Y:.*]] = exec.launch @kernel_0(%arg0)
// CHECK: %[[Z:.*]] = td.matmul %[[Y]]
// CHECK: %[[G:.*]]:2 = exec.launch @kernel_1({{.*}}) : ({{.*}}) -> (tensor<?x8xf32>, tensor<8xf32>)
// CHECK: return %[[G]]#0, %[[G]]#1
// CHECK: func.func private @kernel_0{{.*}}exec.kernel = #exec.kernel_kind<loop>
// CHECK: td.relu
// CHECK: td.tanh
// CHECK: func.func private @kernel_1{{.*}}exec.kernel = #exec.kernel_kind<col>
// CHECK: td.relu
func.func @recompute(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %r = td.relu %x : tensor<?x8xf32>
  %t = td.tanh %r : tensor<?x8xf32>
  %z = td.matmul %t, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %g = td.mul %z, %r : tensor<?x8xf32>
  %db = td.reduce sum, %g axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %g, %db : tensor<?x8xf32>, tensor<8xf32>
}

// -----

// A sum over the batch is not used in the kernel that makes it.
// CHECK-LABEL: func.func @after_sum
// CHECK: exec.launch @kernel_0
// CHECK: exec.launch @kernel_1
// CHECK: return
func.func @after_sum(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = td.reduce sum, %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  %b = td.broadcast %s dims [1] : tensor<8xf32> -> tensor<?x8xf32>
  %y = td.sub %x, %b : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Siblings that read one value become one kernel.
// CHECK-LABEL: func.func @siblings
// CHECK: exec.launch @kernel_0
// CHECK-NOT: exec.launch
// CHECK: return
func.func @siblings(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = td.exp %x : tensor<?x8xf32>
  %b = td.tanh %x : tensor<?x8xf32>
  return %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// A reshape between things that are no kernels stays: it is a view. Constants stay where a result needs them.
// CHECK-LABEL: func.func @view
// CHECK-NEXT: td.reshape
// CHECK-NEXT: return
func.func @view(%x: tensor<?x2x4xf32>) -> tensor<?x8xf32> {
  %y = td.reshape %x : tensor<?x2x4xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Nothing moves over a check.
// CHECK-LABEL: func.func @check
// CHECK: exec.launch
// CHECK: exec.check_finite
// CHECK: exec.launch
// CHECK: return
func.func @check(%v: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %0 = td.mul %g, %g : tensor<8xf32>
  exec.check_finite %g : tensor<8xf32>
  %1 = td.sub %v, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// The body of a microbatch map is a block of its own.
// CHECK-LABEL: func.func @step
// CHECK: exec.map_microbatches
// CHECK: exec.launch @kernel_0
// CHECK: exec.yield
// CHECK: exec.launch @kernel_1
// CHECK: exec.kernel = #exec.kernel_kind<col>
// CHECK: exec.kernel = #exec.kernel_kind<flat>
func.func @step(%x: tensor<?x8xf32>, %v: tensor<8xf32>) -> tensor<8xf32> {
  %g = exec.map_microbatches (%x : tensor<?x8xf32>) reduce [sum] scope [global] lanes 4 rows 8 microbatch 8 -> (tensor<8xf32>) {
  ^bb0(%xs: tensor<?x8xf32>):
    %e = td.exp %xs : tensor<?x8xf32>
    %s = td.reduce sum, %e axes [0] : tensor<?x8xf32> -> tensor<8xf32>
    exec.yield %s : tensor<8xf32>
  }
  %n = td.sub %v, %g : tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// A gradient of another shape than its variable is a view of the map's result: the update stays flat.
// CHECK-LABEL: func.func @update
// CHECK: %[[G:.*]] = exec.map_microbatches
// CHECK: %[[V:.*]] = td.reshape %[[G]] : tensor<8xf32> -> tensor<2x4xf32>
// CHECK: exec.launch @kernel_1({{.*}}%[[V]]
// CHECK: exec.kernel = #exec.kernel_kind<flat>
// CHECK-NOT: = td.reshape
func.func @update(%x: tensor<?x8xf32>, %v: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %g = exec.map_microbatches (%x : tensor<?x8xf32>) reduce [sum] scope [global] lanes 4 rows 8 microbatch 8 -> (tensor<8xf32>) {
  ^bb0(%xs: tensor<?x8xf32>):
    %s = td.reduce sum, %xs axes [0] : tensor<?x8xf32> -> tensor<8xf32>
    exec.yield %s : tensor<8xf32>
  }
  %r = td.reshape %g : tensor<8xf32> -> tensor<2x4xf32>
  %n = td.sub %v, %r : tensor<2x4xf32>
  return %n : tensor<2x4xf32>
}

// -----

// So is one of a tensor that a kernel makes: the kernel stays flat, and the reshape is none.
// CHECK-LABEL: func.func @rounded
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x2x4xf32>
// CHECK: %[[C:.*]] = exec.launch @kernel_0(%[[W]])
// CHECK: %[[V:.*]] = td.reshape %[[C]] : tensor<8x2x4xbf16> -> tensor<8x8xbf16>
// CHECK: exec.library_call(%{{.*}}, %[[V]])
// CHECK: exec.kernel = #exec.kernel_kind<flat>
// CHECK-NOT: = td.reshape
func.func @rounded(%x: tensor<?x8xbf16>, %w: tensor<8x2x4xf32>) -> tensor<?x8xbf16> {
  %c = td.cast %w : tensor<8x2x4xf32> -> tensor<8x2x4xbf16>
  %r = td.reshape %c : tensor<8x2x4xbf16> -> tensor<8x8xbf16>
  %y = exec.library_call(%x, %r) #exec.matmul<a_shape = [4, 8], b_shape = [8, 8], y_shape = [4, 8], a_dtype = bf16, b_dtype = bf16, y_dtype = bf16>
      by library as "x" : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// -----

// One of a constant is computed where it is read.
// CHECK-LABEL: func.func @constant
// CHECK-NEXT: exec.launch @kernel_0
// CHECK-NEXT: return
func.func @constant(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %c = td.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = td.reshape %c : tensor<2xf32> -> tensor<1x2xf32>
  %y = td.add %x, %r : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// -----

// Of 16 numbers and more, kernels read them: fifteen are part of the first one's code.
// CHECK-LABEL: func.func @tables
// CHECK: %[[TABLE:.*]] = td.constant dense<{{.*}}> : tensor<16xf32>
// CHECK-NOT: td.constant
// CHECK-DAG: exec.launch @{{.*}}(%{{.*}}, %[[TABLE]])
// CHECK-DAG: exec.launch @{{.*}}(%{{[a-z0-9]*}}) :
// CHECK: return
func.func @tables(%x: tensor<?x15xf32>, %y: tensor<?x16xf32>) -> (tensor<?x15xf32>, tensor<?x16xf32>) {
  %few = td.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]> : tensor<15xf32>
  %many = td.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]> : tensor<16xf32>
  %a = td.broadcast %few dims [1] : tensor<15xf32> -> tensor<?x15xf32>
  %b = td.broadcast %many dims [1] : tensor<16xf32> -> tensor<?x16xf32>
  %c = td.add %x, %a : tensor<?x15xf32>
  %d = td.add %y, %b : tensor<?x16xf32>
  return %c, %d : tensor<?x15xf32>, tensor<?x16xf32>
}

// -----

// Without a batch siblings share a kernel where launches are costly, unless all that they have in common is a number.
// CHECK-LABEL: module
// CHECK: func.func @siblings_without_batch
// CHECK: exec.launch @kernel_0
// CHECK: exec.launch @kernel_1
// CHECK-NOT: exec.launch
// CHECK: return
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @siblings_without_batch(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>, %n: tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = td.mul %x, %y : tensor<8xf32>
  %b = td.exp %x : tensor<8xf32>
  %s = td.broadcast %n dims [] : tensor<f32> -> tensor<8xf32>
  %c = td.mul %z, %s : tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}

// -----

// Each number of the gradient is read by the four elements of its window. On GPUs they read bfloat16, and no kernel
// stores it as float32.
// CHECK-LABEL: func.func @pool_gradient
// CHECK: exec.launch
// CHECK-NOT: exec.launch
// CHECK: func.func private @kernel_0(%{{.*}}: tensor<?x4x4x8xbf16>, %{{.*}}: tensor<?x4x4x8xui8>) -> tensor<8xf32>
module attributes {exec.config = #exec.config<target = <backend = cuda, sm = 90>>} {
  func.func @pool_gradient(%i: tensor<?x4x4x8xui8>, %dp: tensor<?x4x4x8xbf16>) -> tensor<8xf32> {
    %f = td.cast %dp : tensor<?x4x4x8xbf16> -> tensor<?x4x4x8xf32>
    %dy = td.max_pool_argmax_grad %i, %f size [8, 8] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x8xui8>, tensor<?x4x4x8xf32> -> tensor<?x8x8x8xf32>
    %s = td.reduce sum, %dy axes [0, 1, 2] : tensor<?x8x8x8xf32> -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
}

// -----

// On CPUs it is converted once.
// CHECK-LABEL: func.func @pool_gradient
// CHECK-COUNT-2: exec.launch
func.func @pool_gradient(%i: tensor<?x4x4x8xui8>, %dp: tensor<?x4x4x8xbf16>) -> tensor<8xf32> {
  %f = td.cast %dp : tensor<?x4x4x8xbf16> -> tensor<?x4x4x8xf32>
  %dy = td.max_pool_argmax_grad %i, %f size [8, 8] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x8xui8>, tensor<?x4x4x8xf32> -> tensor<?x8x8x8xf32>
  %s = td.reduce sum, %dy axes [0, 1, 2] : tensor<?x8x8x8xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// A padding that overlapping windows read is a kernel of its own.
// CHECK-LABEL: func.func @overlapping_windows
// CHECK: %[[P:.*]] = exec.launch @kernel_0(%arg0)
// CHECK: exec.launch @kernel_1(%[[P]])
func.func @overlapping_windows(%x: tensor<?x14x14x8xf32>) -> tensor<?x7x7x8xf32> {
  %p = td.pad %x low [0, 1, 1, 0] high [0, 1, 1, 0] : tensor<?x14x14x8xf32> -> tensor<?x16x16x8xf32>
  %y = td.max_pool %p window [3, 3] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x16x16x8xf32> -> tensor<?x7x7x8xf32>
  return %y : tensor<?x7x7x8xf32>
}

// -----

// Windows that do not overlap compute the padding.
// CHECK-LABEL: func.func @other_windows
// CHECK: exec.launch @kernel_0(%arg0)
// CHECK-NOT: exec.launch
// CHECK: return
func.func @other_windows(%x: tensor<?x14x14x8xf32>) -> tensor<?x8x8x8xf32> {
  %p = td.pad %x low [0, 1, 1, 0] high [0, 1, 1, 0] : tensor<?x14x14x8xf32> -> tensor<?x16x16x8xf32>
  %y = td.max_pool %p window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x16x16x8xf32> -> tensor<?x8x8x8xf32>
  return %y : tensor<?x8x8x8xf32>
}
