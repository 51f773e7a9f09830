// RUN: tandem-opt %s -td-take-gpu-epilogues -split-input-file | FileCheck %s

// The gradient of a relu behind a product, and its sum: the forward product writes the mask, in rows of 16 bytes.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]]:2 = exec.library_call(%{{.*}}, %{{.*}}, %{{.*}}) #exec.matmul<{{.*}}epilogue = <bias = true, activation = relu, saves = true>
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x16xui8>)
// CHECK-NOT: td.compare
// CHECK-NOT: td.select
// CHECK: %[[D:.*]]:2 = exec.library_call(%{{.*}}, %{{.*}}, %[[Y]]#1) #exec.matmul<{{.*}}transpose_b = true, reduces_batch = true, epilogue = <activation = relu, gradient = true, sums = y>
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<8xf32>)
// CHECK-NOT: td.reduce
// CHECK: return %[[Y]]#0, %[[D]]#0, %[[D]]#1
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>, %dz: tensor<?x16xf32>, %v: tensor<8x16xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) {
  %y = exec.library_call(%x, %w, %b) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8], epilogue = <bias = true, activation = relu>> by library : (tensor<?x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %d = exec.library_call(%dz, %v) #exec.matmul<a_shape = [6, 16], b_shape = [8, 16], y_shape = [6, 8], transpose_b = true> by library : (tensor<?x16xf32>, tensor<8x16xf32>) -> tensor<?x8xf32>
  %c = td.constant dense<0.0> : tensor<f32>
  %zero = td.broadcast %c dims [] : tensor<f32> -> tensor<?x8xf32>
  %m = td.compare gt, %y, %zero : tensor<?x8xf32> -> tensor<?x8xi1>
  %r = td.select %m, %d, %zero : tensor<?x8xi1>, tensor<?x8xf32>
  %s = td.reduce sum, %r axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %y, %r, %s : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>
}
}

// -----

// A gradient that something else reads before the relu's is not the product's to change; nor is a relu that is no
// product's.
// CHECK-LABEL: func.func @step
// CHECK-NOT: relu_mask
// CHECK-NOT: relu_grad
// CHECK: return
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>, %o: tensor<?x8xf32>, %dz: tensor<?x16xf32>, %v: tensor<8x16xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = exec.library_call(%x, %w, %b) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8], epilogue = <bias = true, activation = relu>> by library : (tensor<?x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %d = exec.library_call(%dz, %v) #exec.matmul<a_shape = [6, 16], b_shape = [8, 16], y_shape = [6, 8], transpose_b = true> by library : (tensor<?x16xf32>, tensor<8x16xf32>) -> tensor<?x8xf32>
  %e = exec.library_call(%dz, %v) #exec.matmul<a_shape = [6, 16], b_shape = [8, 16], y_shape = [6, 8], transpose_b = true> by library : (tensor<?x16xf32>, tensor<8x16xf32>) -> tensor<?x8xf32>
  %c = td.constant dense<0.0> : tensor<f32>
  %zero = td.broadcast %c dims [] : tensor<f32> -> tensor<?x8xf32>
  %m = td.compare gt, %y, %zero : tensor<?x8xf32> -> tensor<?x8xi1>
  %r = td.select %m, %d, %zero : tensor<?x8xi1>, tensor<?x8xf32>
  %n = td.compare gt, %o, %zero : tensor<?x8xf32> -> tensor<?x8xi1>
  %q = td.select %n, %e, %zero : tensor<?x8xi1>, tensor<?x8xf32>
  return %d, %r, %q : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
}

// -----

// GELU with a bias. The backward pass reads what it was applied to, so the call gives that too; its gradient is the
// epilogue of the product behind. bfloat16 is not summed up.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]]:2 = exec.library_call({{.*}}) #exec.matmul<{{.*}}epilogue = <bias = true, activation = gelu, saves = true>{{.*}} -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
// CHECK-NOT: td.gelu
// CHECK: %[[Z:.*]] = exec.library_call(%[[Y]]#0, %{{.*}}) #exec.matmul<
// CHECK: %[[D:.*]] = exec.library_call(%[[Z]], %{{.*}}, %[[Y]]#1) #exec.matmul<{{.*}}epilogue = <activation = gelu, gradient = true>
// CHECK-SAME: -> tensor<?x8xbf16>
// CHECK: td.reduce sum, %[[D]]
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x4xbf16>, %w: tensor<4x8xbf16>, %b: tensor<8xf32>, %v: tensor<8x16xbf16>) -> (tensor<?x8xbf16>, tensor<8xbf16>) {
  %y = exec.library_call(%x, %w, %b) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8], a_dtype = bf16, b_dtype = bf16, y_dtype = bf16, epilogue = <bias = true>> by library : (tensor<?x4xbf16>, tensor<4x8xbf16>, tensor<8xf32>) -> tensor<?x8xbf16>
  %g = td.gelu %y {approximate = true} : tensor<?x8xbf16>
  %z = exec.library_call(%g, %v) #exec.matmul<a_shape = [6, 8], b_shape = [8, 16], y_shape = [6, 16], a_dtype = bf16, b_dtype = bf16, y_dtype = bf16> by library : (tensor<?x8xbf16>, tensor<8x16xbf16>) -> tensor<?x16xbf16>
  %d = exec.library_call(%z, %v) #exec.matmul<a_shape = [6, 16], b_shape = [8, 16], y_shape = [6, 8], a_dtype = bf16, b_dtype = bf16, y_dtype = bf16, transpose_b = true> by library : (tensor<?x16xbf16>, tensor<8x16xbf16>) -> tensor<?x8xbf16>
  %r = td.gelu_grad %d, %y {approximate = true} : tensor<?x8xbf16>
  %s = td.reduce sum, %r axes [0] : tensor<?x8xbf16> -> tensor<8xbf16>
  return %r, %s : tensor<?x8xbf16>, tensor<8xbf16>
}
}

// -----

// Without a backward pass GELU needs no second result. The erf form is not cuBLASLt's; nor is GELU taken where a kernel
// reads both it and what it was applied to.
// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = exec.library_call({{.*}}) #exec.matmul<{{.*}}epilogue = <activation = gelu>{{.*}} -> tensor<?x8xf32>
// CHECK: %[[B:.*]] = exec.library_call({{.*}}) #exec.matmul<{{.*}} -> tensor<?x8xf32>
// CHECK: td.gelu %[[B]]
// CHECK: %[[C:.*]] = exec.library_call({{.*}}) #exec.matmul<{{.*}} -> tensor<?x8xf32>
// CHECK: td.gelu %[[C]]
// CHECK: return %[[A]]
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = exec.library_call(%x, %w) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8]> by library : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %1 = td.gelu %0 {approximate = true} : tensor<?x8xf32>
  %2 = exec.library_call(%x, %w) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8]> by library : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %3 = td.gelu %2 : tensor<?x8xf32>
  %4 = exec.library_call(%x, %w) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8]> by library : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %5 = td.gelu %4 {approximate = true} : tensor<?x8xf32>
  %6 = td.mul %5, %4 : tensor<?x8xf32>
  return %1, %3, %6 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
}

// -----

// The sums over the rows of what a weight gradient multiplies: of the kernel operand, which comes from a library (and of
// which a view is taken), but not of one that a kernel makes.
// CHECK-LABEL: func.func @step
// CHECK: td.reshape
// CHECK: %[[G:.*]]:2 = exec.library_call({{.*}}) #exec.matmul<{{.*}}epilogue = <sums = b>{{.*}} -> (tensor<4x8xf32>, tensor<8xf32>)
// CHECK: %[[N:.*]] = td.neg
// CHECK: %[[H:.*]] = exec.library_call(%{{.*}}, %[[N]]) #exec.matmul<a_shape
// CHECK: %[[S:.*]] = td.reduce sum, %[[N]]
// CHECK: return %[[G]]#0, %[[G]]#1, %[[H]], %[[S]]
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x4xf32>, %z: tensor<?x2x3xf32>, %w: tensor<2x3x4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>) {
  %0 = exec.library_call(%z, %z) #exec.batch_matmul<a_shape = [6, 2, 3], b_shape = [6, 2, 3], y_shape = [6, 2, 4], transpose_b = true> by library : (tensor<?x2x3xf32>, tensor<?x2x3xf32>) -> tensor<?x2x4xf32>
  %1 = td.reshape %0 : tensor<?x2x4xf32> -> tensor<?x8xf32>
  %2 = exec.library_call(%x, %1) #exec.matmul<a_shape = [6, 4], b_shape = [6, 8], y_shape = [4, 8], transpose_a = true, reduces_batch = true> by library : (tensor<?x4xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  %3 = td.reduce sum, %1 axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  %4 = td.neg %1 : tensor<?x8xf32>
  %5 = exec.library_call(%x, %4) #exec.matmul<a_shape = [6, 4], b_shape = [6, 8], y_shape = [4, 8], transpose_a = true, reduces_batch = true> by library : (tensor<?x4xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  %6 = td.reduce sum, %4 axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %2, %3, %5, %6 : tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>
}
}

// -----

// On a CPU nothing changes.
// CHECK-LABEL: func.func @step
// CHECK: td.gelu
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %0 = exec.library_call(%x, %w) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8]> by library : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %1 = td.gelu %0 {approximate = true} : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// A relu's product behind the one that it masks keeps its result: the two do not depend on each other.
// CHECK-LABEL: func.func @step
// CHECK-NOT: saves = true
// CHECK: td.select
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>, %v: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %d = exec.library_call(%x, %v) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8]> by library : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %y = exec.library_call(%x, %w, %b) #exec.matmul<a_shape = [6, 4], b_shape = [4, 8], y_shape = [6, 8], epilogue = <bias = true, activation = relu>> by library : (tensor<?x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %c = td.constant dense<0.0> : tensor<f32>
  %zero = td.broadcast %c dims [] : tensor<f32> -> tensor<?x8xf32>
  %m = td.compare gt, %y, %zero : tensor<?x8xf32> -> tensor<?x8xi1>
  %r = td.select %m, %d, %zero : tensor<?x8xi1>, tensor<?x8xf32>
  return %y, %r : tensor<?x8xf32>, tensor<?x8xf32>
}
}
