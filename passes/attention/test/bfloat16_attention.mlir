// RUN: tandem-opt %s -td-form-attention -td-choose-contractions -td-paint-precision -td-lower-attention -td-outline-contractions -split-input-file | FileCheck %s

// On GPUs in mixed_bfloat16, whatever the sequence: one kernel each, of bfloat16 rows and float32 statistics, without
// scratch memory.
// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16
// CHECK: func.func @step
// CHECK-NOT: td.softmax
// CHECK: %[[R:.*]]:3 = exec.launch @attention(
// CHECK: exec.launch @attention_0(%{{.*}}, %{{.*}}, %{{.*}}, %[[R]]#0, %[[R]]#1, %[[R]]#2, %{{.*}})
// CHECK: func.func private @attention(
// CHECK-SAME: -> (tensor<?x8x2x32xbf16>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) attributes {exec.kernel = #exec.kernel_kind<tile>}
// CHECK: td.attention %{{.*}} {heads_inside, scale = 2.500000e-01 : f64}
// CHECK: func.func private @attention_0(
// CHECK-SAME: -> (tensor<?x8x2x16xbf16>, tensor<?x8x2x16xbf16>, tensor<?x8x2x32xbf16>) attributes {exec.kernel = #exec.kernel_kind<tile>}
// CHECK: td.attention_grad %{{.*}} {heads_inside, scale = 2.500000e-01 : f64}
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, target = <backend = cuda>>} {
  func.func @step(%q: tensor<?x8x2x16xf32>, %k: tensor<?x8x2x16xf32>, %v: tensor<?x8x2x32xf32>, %dy: tensor<?x8x2x32xf32>)
      -> (tensor<?x8x2x32xf32>, tensor<?x8x2x16xf32>, tensor<?x8x2x16xf32>, tensor<?x8x2x32xf32>) {
    %scale = td.constant dense<2.5e-01> : tensor<f32>
    %scales = td.broadcast %scale dims [] : tensor<f32> -> tensor<?x2x8x8xf32>
    %0 = td.batch_matmul %q, %k {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x8x2x16xf32>, tensor<?x8x2x16xf32> -> tensor<?x2x8x8xf32>
    %1 = td.mul %0, %scales : tensor<?x2x8x8xf32>
    %p = td.softmax %1 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %v {swap_b = true, swap_output = true} : tensor<?x2x8x8xf32>, tensor<?x8x2x32xf32> -> tensor<?x8x2x32xf32>
    %dp = td.batch_matmul %dy, %v {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x8x2x32xf32>, tensor<?x8x2x32xf32> -> tensor<?x2x8x8xf32>
    %dv = td.batch_matmul %p, %dy {swap_b = true, swap_output = true, transpose_a = true} : tensor<?x2x8x8xf32>, tensor<?x8x2x32xf32> -> tensor<?x8x2x32xf32>
    %3 = td.mul %dp, %p : tensor<?x2x8x8xf32>
    %4 = td.reduce sum, %3 axes [3] : tensor<?x2x8x8xf32> -> tensor<?x2x8xf32>
    %5 = td.broadcast %4 dims [0, 1, 2] : tensor<?x2x8xf32> -> tensor<?x2x8x8xf32>
    %6 = td.sub %dp, %5 : tensor<?x2x8x8xf32>
    %7 = td.mul %p, %6 : tensor<?x2x8x8xf32>
    %9 = td.mul %7, %scales : tensor<?x2x8x8xf32>
    %dq = td.batch_matmul %9, %k {swap_b = true, swap_output = true} : tensor<?x2x8x8xf32>, tensor<?x8x2x16xf32> -> tensor<?x8x2x16xf32>
    %dk = td.batch_matmul %9, %q {swap_b = true, swap_output = true, transpose_a = true} : tensor<?x2x8x8xf32>, tensor<?x8x2x16xf32> -> tensor<?x8x2x16xf32>
    return %y, %dq, %dk, %dv : tensor<?x8x2x32xf32>, tensor<?x8x2x16xf32>, tensor<?x8x2x16xf32>, tensor<?x8x2x32xf32>
  }
}

// -----

// Heads of up to 128 numbers, whatever multiple of 16 or none they are.
// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16
// CHECK: func.func private @attention(
// CHECK-SAME: (tensor<?x2x8x20xbf16>, tensor<?x2x8xf32>, tensor<?x2x8xf32>)
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x2x8x20xf32>) -> tensor<?x2x8x20xf32> {
    %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x2x8x20xf32>, tensor<?x2x8x20xf32> -> tensor<?x2x8x8xf32>
    %p = td.softmax %0 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %x : tensor<?x2x8x8xf32>, tensor<?x2x8x20xf32> -> tensor<?x2x8x20xf32>
    return %y : tensor<?x2x8x20xf32>
  }
}

// -----

// Larger heads stay apart.
// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16
// CHECK-NOT: td.attention
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x2x8x144xf32>) -> tensor<?x2x8x144xf32> {
    %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x2x8x144xf32>, tensor<?x2x8x144xf32> -> tensor<?x2x8x8xf32>
    %p = td.softmax %0 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %x : tensor<?x2x8x8xf32>, tensor<?x2x8x144xf32> -> tensor<?x2x8x144xf32>
    return %y : tensor<?x2x8x144xf32>
  }
}

// -----

// In float32 too, and with TensorFloat-32 where the user allows it.
// CHECK-LABEL: module attributes {exec.config = #exec.config<target = <backend = cuda
// CHECK: func.func private @attention(
// CHECK-SAME: (tensor<?x2x8x16xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>) attributes {exec.kernel = #exec.kernel_kind<tile>}
// CHECK: td.attention %{{.*}} {scale = 1.000000e+00 : f64}
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x2x8x16xf32>) -> tensor<?x2x8x16xf32> {
    %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x2x8x16xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x8xf32>
    %p = td.softmax %0 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %x : tensor<?x2x8x8xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x16xf32>
    return %y : tensor<?x2x8x16xf32>
  }
}

// -----

// CHECK-LABEL: module attributes {exec.config = #exec.config<tf32 = true
// CHECK: td.attention %{{.*}} {scale = 1.000000e+00 : f64, tf32}
// CHECK: td.attention_grad %{{.*}} {scale = 1.000000e+00 : f64, tf32}
module attributes {exec.config = #exec.config<tf32 = true, target = <backend = cuda>>} {
  func.func @step(%q: tensor<?x2x8x16xf32>, %k: tensor<?x2x8x16xf32>, %v: tensor<?x2x8x16xf32>, %dy: tensor<?x2x8x16xf32>)
      -> (tensor<?x2x8x16xf32>, tensor<?x2x8x16xf32>) {
    %0 = td.batch_matmul %q, %k {transpose_b = true} : tensor<?x2x8x16xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x8xf32>
    %p = td.softmax %0 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %v : tensor<?x2x8x8xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x16xf32>
    %dv = td.batch_matmul %p, %dy {transpose_a = true} : tensor<?x2x8x8xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x16xf32>
    return %y, %dv : tensor<?x2x8x16xf32>, tensor<?x2x8x16xf32>
  }
}

// -----

// Rows that are bfloat16 need no leave to round float32 ones.
// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16, tf32 = true
// CHECK: td.attention %{{.*}} {scale = 1.000000e+00 : f64} : (tensor<?x2x8x16xbf16>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, tf32 = true, target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x2x8x16xf32>) -> tensor<?x2x8x16xf32> {
    %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x2x8x16xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x8xf32>
    %p = td.softmax %0 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %x : tensor<?x2x8x8xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x16xf32>
    return %y : tensor<?x2x8x16xf32>
  }
}

// -----

// What the user keeps from bfloat16 stays apart.
// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16
// CHECK-NOT: td.attention
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <deny = ["attention"]>, target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x2x8x16xf32>) -> tensor<?x2x8x16xf32> {
    %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x2x8x16xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x8xf32>
    %p = td.softmax %0 : tensor<?x2x8x8xf32>
    %y = td.batch_matmul %p, %x : tensor<?x2x8x8xf32>, tensor<?x2x8x16xf32> -> tensor<?x2x8x16xf32>
    return %y : tensor<?x2x8x16xf32>
  }
}

// -----

// On CPUs it is formed where the scores exceed the cache, and stays float32.
// CHECK-LABEL: module attributes {exec.config = #exec.config<precision = mixed_bfloat16>}
// CHECK: exec.attention {{.*}} (tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32>)
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x8x512x16xf32>) -> tensor<?x8x512x16xf32> {
    %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x512xf32>
    %p = td.softmax %0 : tensor<?x8x512x512xf32>
    %y = td.batch_matmul %p, %x : tensor<?x8x512x512xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x16xf32>
    return %y : tensor<?x8x512x16xf32>
  }
}
