// RUN: tandem-opt %s -td-choose-contractions -td-paint-precision -split-input-file -verify-diagnostics | FileCheck %s

// A layer between two others: all of it is bfloat16, the weights are cast once, the weight gradient keeps the
// accumulator, and the step's types stay.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<?x8x8x4xf32>, %[[W:.*]]: tensor<3x3x4x16xf32>, %[[B:.*]]: tensor<16xf32>
// CHECK: %[[BB:.*]] = td.cast %[[B]] : tensor<16xf32> -> tensor<16xbf16>
// CHECK: %[[WB:.*]] = td.cast %[[W]] : tensor<3x3x4x16xf32> -> tensor<3x3x4x16xbf16>
// CHECK: %[[XB:.*]] = td.cast %[[X]] : tensor<?x8x8x4xf32> -> tensor<?x8x8x4xbf16>
// CHECK: %[[Y:.*]] = td.conv2d %[[XB]], %[[WB]] {{.*}} -> tensor<?x6x6x16xbf16>
// CHECK: %[[WIDE:.*]] = td.broadcast %[[BB]] dims [3] : tensor<16xbf16>
// CHECK: td.add %[[Y]], %[[WIDE]] : tensor<?x6x6x16xbf16>
// CHECK: %[[R:.*]] = td.relu
// CHECK-SAME: tensor<?x6x6x16xbf16>
// CHECK: td.matmul {{.*}}f32_result} : tensor<?x576xbf16>, tensor<576x10xbf16> -> tensor<?x10xf32>
// CHECK: td.conv2d_filter_grad %[[XB]], %[[R]] {{.*}}f32_result} : {{.*}} -> tensor<3x3x4x16xf32>
// CHECK: return {{.*}} : tensor<?x10xf32>, tensor<3x3x4x16xf32>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x8x8x4xf32>, %w: tensor<3x3x4x16xf32>, %b: tensor<16xf32>, %w1: tensor<576x10xf32>)
      -> (tensor<?x10xf32>, tensor<3x3x4x16xf32>) {
    %0 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<3x3x4x16xf32> -> tensor<?x6x6x16xf32>
    %1 = td.broadcast %b dims [3] : tensor<16xf32> -> tensor<?x6x6x16xf32>
    %2 = td.add %0, %1 : tensor<?x6x6x16xf32>
    %3 = td.relu %2 : tensor<?x6x6x16xf32>
    %4 = td.reshape %3 : tensor<?x6x6x16xf32> -> tensor<?x576xf32>
    %5 = td.matmul %4, %w1 : tensor<?x576xf32>, tensor<576x10xf32> -> tensor<?x10xf32>
    %6 = td.conv2d_filter_grad %x, %3 size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x4xf32>, tensor<?x6x6x16xf32> -> tensor<3x3x4x16xf32>
    return %5, %6 : tensor<?x10xf32>, tensor<3x3x4x16xf32>
  }
}

// -----

// What a sum or an exponential feeds is not rounded: the product stays float32, and so does what it reads.
// CHECK-LABEL: func.func @step
// CHECK: %[[E:.*]] = td.exp %{{.*}} : tensor<?x16xf32>
// CHECK: %[[M:.*]] = td.mul {{.*}} : tensor<?x16xf32>
// The relu behind it is read by a matmul, which rounds it in any case.
// CHECK: %[[MB:.*]] = td.cast %[[M]] : tensor<?x16xf32> -> tensor<?x16xbf16>
// CHECK: %[[R:.*]] = td.relu %[[MB]] : tensor<?x16xbf16>
// CHECK: %[[RF:.*]] = td.cast %[[R]] : tensor<?x16xbf16> -> tensor<?x16xf32>
// CHECK: td.matmul %[[R]]
// CHECK: td.reduce sum, %[[RF]]
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<16xf32>) {
    %0 = td.matmul %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %1 = td.exp %0 : tensor<?x16xf32>
    %2 = td.mul %1, %0 : tensor<?x16xf32>
    %3 = td.relu %2 : tensor<?x16xf32>
    %4 = td.matmul %3, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %5 = td.reduce sum, %3 axes [0] : tensor<?x16xf32> -> tensor<16xf32>
    return %4, %5 : tensor<?x16xf32>, tensor<16xf32>
  }
}

// -----

// What goes back through a painted relu has its type, also the sum of what comes from a product and from a path that
// stays float32. The reduction sums in float32.
// CHECK-LABEL: func.func @step
// CHECK-DAG: %[[E:.*]] = td.exp %{{.*}} : tensor<?x16xf32>
// CHECK-DAG: %[[EB:.*]] = td.cast %[[E]] : tensor<?x16xf32> -> tensor<?x16xbf16>
// CHECK-DAG: %[[D:.*]] = td.matmul {{.*}}transpose_b = true} {{.*}} -> tensor<?x16xbf16>
// CHECK: %[[A:.*]] = td.add %[[EB]], %[[D]] : tensor<?x16xbf16>
// CHECK: %[[C:.*]] = td.compare gt, %{{.*}} : tensor<?x16xbf16>
// CHECK: %[[G:.*]] = td.select %[[C]], %[[A]], %{{.*}} : tensor<?x16xi1>, tensor<?x16xbf16>
// CHECK: %[[GF:.*]] = td.cast %[[G]] : tensor<?x16xbf16> -> tensor<?x16xf32>
// CHECK: td.reduce sum, %[[GF]]
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>, %dy: tensor<?x16xf32>)
      -> (tensor<16xf32>, tensor<?x16xf32>) {
    %0 = td.matmul %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %1 = td.relu %0 : tensor<?x16xf32>
    %y = td.matmul %1, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %2 = td.exp %dy : tensor<?x16xf32>
    %3 = td.matmul %1, %w {transpose_b = true} : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32> loc("gradients/relu/a")
    %4 = td.add %2, %3 : tensor<?x16xf32> loc("gradients/relu/a")
    %5 = td.constant dense<0.0> : tensor<f32>
    %6 = td.broadcast %5 dims [] : tensor<f32> -> tensor<?x16xf32>
    %7 = td.compare gt, %1, %6 : tensor<?x16xf32> -> tensor<?x16xi1> loc("gradients/relu/a")
    %8 = td.select %7, %4, %6 : tensor<?x16xi1>, tensor<?x16xf32> loc("gradients/relu/a")
    %9 = td.reduce sum, %8 axes [0] : tensor<?x16xf32> -> tensor<16xf32> loc("gradients/relu/a")
    return %9, %y : tensor<16xf32>, tensor<?x16xf32>
  }
}

// -----

// A loss behind the last product, its target and its gradient up to the first product of the backward pass: float32.
// What the network computes is still bfloat16.
// CHECK-LABEL: func.func @step
// CHECK: %[[H:.*]] = td.relu {{.*}} : tensor<?x32xbf16>
// CHECK: %[[Y:.*]] = td.matmul %[[H]], {{.*}}f32_result} : tensor<?x32xbf16>, tensor<32x16xbf16> -> tensor<?x16xf32>
// CHECK: %[[D:.*]] = td.sub %[[Y]], %{{.*}} : tensor<?x16xf32>
// CHECK: td.mul %[[D]], %[[D]] : tensor<?x16xf32>
// CHECK: %[[G:.*]] = td.mul %[[D]], %{{.*}} : tensor<?x16xf32>
// CHECK: %[[GB:.*]] = td.cast %[[G]] : tensor<?x16xf32> -> tensor<?x16xbf16>
// CHECK: %[[DH:.*]] = td.matmul %[[GB]], {{.*}} -> tensor<?x32xbf16>
// CHECK: td.select {{.*}} : tensor<?x32xi1>, tensor<?x32xbf16>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x16xf32>, %w0: tensor<16x32xf32>, %w1: tensor<32x16xf32>, %t: tensor<?x16xf32>)
      -> (tensor<?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) {
    %0 = td.matmul %x, %w0 : tensor<?x16xf32>, tensor<16x32xf32> -> tensor<?x32xf32>
    %1 = td.relu %0 : tensor<?x32xf32>
    %2 = td.matmul %1, %w1 : tensor<?x32xf32>, tensor<32x16xf32> -> tensor<?x16xf32>
    %3 = td.sub %2, %t : tensor<?x16xf32>
    %4 = td.mul %3, %3 : tensor<?x16xf32>
    %two = td.constant dense<2.0> : tensor<f32>
    %5 = td.broadcast %two dims [] : tensor<f32> -> tensor<?x16xf32>
    %6 = td.mul %3, %5 : tensor<?x16xf32> loc("gradients/loss/Mul")
    %7 = td.matmul %1, %6 {transpose_a = true} : tensor<?x32xf32>, tensor<?x16xf32> -> tensor<32x16xf32> loc("gradients/y/MatMul")
    %8 = td.matmul %6, %w1 {transpose_b = true} : tensor<?x16xf32>, tensor<32x16xf32> -> tensor<?x32xf32> loc("gradients/y/MatMul")
    %zero = td.constant dense<0.0> : tensor<f32>
    %zeros = td.broadcast %zero dims [] : tensor<f32> -> tensor<?x32xf32>
    %9 = td.compare gt, %1, %zeros : tensor<?x32xf32> -> tensor<?x32xi1> loc("gradients/h/Relu")
    %10 = td.select %9, %8, %zeros : tensor<?x32xi1>, tensor<?x32xf32> loc("gradients/h/Relu")
    %11 = td.matmul %x, %10 {transpose_a = true} : tensor<?x16xf32>, tensor<?x32xf32> -> tensor<16x32xf32> loc("gradients/h/MatMul")
    return %4, %11, %7 : tensor<?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>
  }
}

// -----

// A feature that a product reads, and something else: rounded for the product only. Where products alone read a slice
// of it, the slice is of the rounded feature.
// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = td.reshape %{{.*}} : tensor<?x16xf32> -> tensor<?x4x4xf32>
// CHECK: %[[AB:.*]] = td.cast %[[A]] : tensor<?x4x4xf32> -> tensor<?x4x4xbf16>
// CHECK: %[[B:.*]] = td.reshape %[[AB]] : tensor<?x4x4xbf16> -> tensor<?x16xbf16>
// CHECK: td.matmul %[[B]]
// CHECK: td.cast %[[A]] : tensor<?x4x4xf32> -> tensor<?x4x4xi32>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<?x4x4xi32>) {
    %0 = td.reshape %x : tensor<?x16xf32> -> tensor<?x4x4xf32>
    %1 = td.reshape %0 : tensor<?x4x4xf32> -> tensor<?x16xf32>
    %2 = td.matmul %1, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %3 = td.cast %0 : tensor<?x4x4xf32> -> tensor<?x4x4xi32>
    return %2, %3 : tensor<?x16xf32>, tensor<?x4x4xi32>
  }
}

// -----

// A convolution of nine taps becomes one generated kernel with what follows: float32 up to what the next one reads.
// CHECK-LABEL: func.func @step
// CHECK: td.conv2d {{.*}} -> tensor<?x6x6x16xf32>
// CHECK: td.add {{.*}} : tensor<?x6x6x16xf32>
// CHECK: td.relu {{.*}} : tensor<?x6x6x16xf32>
// CHECK: %[[P:.*]] = td.max_pool {{.*}} -> tensor<?x3x3x16xf32>
// CHECK: %[[PB:.*]] = td.cast %[[P]] : tensor<?x3x3x16xf32> -> tensor<?x3x3x16xbf16>
// CHECK: td.conv2d %[[PB]], {{.*}}f32_result} : tensor<?x3x3x16xbf16>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x8x8x1xf32>, %w: tensor<3x3x1x16xf32>, %b: tensor<16xf32>, %w1: tensor<3x3x16x16xf32>,
                  %w2: tensor<1x1x16x16xf32>) -> tensor<?x1x1x16xf32> {
    %0 = td.conv2d %x, %w strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32> -> tensor<?x6x6x16xf32>
    %1 = td.broadcast %b dims [3] : tensor<16xf32> -> tensor<?x6x6x16xf32>
    %2 = td.add %0, %1 : tensor<?x6x6x16xf32>
    %3 = td.relu %2 : tensor<?x6x6x16xf32>
    %4 = td.max_pool %3 window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x6x6x16xf32> -> tensor<?x3x3x16xf32>
    %5 = td.conv2d %4, %w1 strides [1, 1] low [0, 0] high [0, 0] : tensor<?x3x3x16xf32>, tensor<3x3x16x16xf32> -> tensor<?x1x1x16xf32>
    %6 = td.conv2d %5, %w2 strides [1, 1] low [0, 0] high [0, 0] : tensor<?x1x1x16xf32>, tensor<1x1x16x16xf32> -> tensor<?x1x1x16xf32>
    return %6 : tensor<?x1x1x16xf32>
  }
}

// -----

// A product with one column is a part of the loop around it, and so are both its gradients: nothing is rounded for them.
// CHECK-LABEL: func.func @step
// CHECK: td.matmul {{.*}} : tensor<?x16xbf16>, tensor<16x32xbf16> -> tensor<?x32xbf16>
// CHECK: %[[H:.*]] = td.relu {{.*}} : tensor<?x32xbf16>
// CHECK: %[[HF:.*]] = td.cast %[[H]] : tensor<?x32xbf16> -> tensor<?x32xf32>
// CHECK: td.matmul %[[HF]], %{{.*}} : tensor<?x32xf32>, tensor<32x1xf32> -> tensor<?x1xf32>
// CHECK: td.matmul %[[HF]], {{.*}} : tensor<?x32xf32>, tensor<?x1xf32> -> tensor<32x1xf32>
// CHECK: td.matmul {{.*}} : tensor<?x1xf32>, tensor<32x1xf32> -> tensor<?x32xf32>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x16xf32>, %w0: tensor<16x32xf32>, %w1: tensor<32x1xf32>, %dy: tensor<?x1xf32>)
      -> (tensor<?x1xf32>, tensor<32x1xf32>, tensor<?x32xf32>) {
    %0 = td.matmul %x, %w0 : tensor<?x16xf32>, tensor<16x32xf32> -> tensor<?x32xf32>
    %1 = td.relu %0 : tensor<?x32xf32>
    %2 = td.matmul %1, %w1 : tensor<?x32xf32>, tensor<32x1xf32> -> tensor<?x1xf32>
    %3 = td.matmul %1, %dy {transpose_a = true} : tensor<?x32xf32>, tensor<?x1xf32> -> tensor<32x1xf32>
    %4 = td.matmul %dy, %w1 {transpose_b = true} : tensor<?x1xf32>, tensor<32x1xf32> -> tensor<?x32xf32>
    return %2, %3, %4 : tensor<?x1xf32>, tensor<32x1xf32>, tensor<?x32xf32>
  }
}

// -----

// A constant is rounded where it stands.
// CHECK-LABEL: func.func @step
// CHECK-NOT: td.cast {{.*}} : tensor<f32>
// CHECK: td.constant dense<0.000000e+00> : tensor<bf16>
// CHECK: td.compare gt, {{.*}} : tensor<?x16xbf16>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
    %zero = td.constant dense<0.0> : tensor<f32>
    %zeros = td.broadcast %zero dims [] : tensor<f32> -> tensor<?x16xf32>
    %0 = td.matmul %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %1 = td.compare gt, %0, %zeros : tensor<?x16xf32> -> tensor<?x16xi1>
    %2 = td.select %1, %0, %zeros : tensor<?x16xi1>, tensor<?x16xf32>
    %3 = td.matmul %2, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    return %3 : tensor<?x16xf32>
  }
}

// -----

// The user's lists win.
// CHECK-LABEL: func.func @step
// CHECK: td.matmul {{.*}} -> tensor<?x16xf32>
// CHECK-NOT: bf16
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <deny = ["matmul"]>>} {
  func.func @step(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
    %0 = td.matmul %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    return %0 : tensor<?x16xf32>
  }
}

// -----

// Products of attention heads: a GPU's library multiplies bfloat16 matrices.
// CHECK-LABEL: func.func @step
// CHECK: td.batch_matmul {{.*}} : tensor<?x8x4x16xbf16>, tensor<?x8x4x16xbf16> -> tensor<?x4x8x8xbf16>
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, target = <backend = cuda, sm = 90>>} {
  func.func @step(%q: tensor<?x8x4x16xf32>, %k: tensor<?x8x4x16xf32>) -> tensor<?x4x8x8xf32> {
    %0 = td.batch_matmul %q, %k {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x8x4x16xf32>, tensor<?x8x4x16xf32> -> tensor<?x4x8x8xf32>
    return %0 : tensor<?x4x8x8xf32>
  }
}

// -----

// Weights of attention that a product reads rounded are read so by the gradient, too.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = td.softmax %{{.*}} : tensor<?x4x8x8xf32>
// CHECK: %[[B:.*]] = td.cast %[[P]] : tensor<?x4x8x8xf32> -> tensor<?x4x8x8xbf16>
// CHECK: %[[W:.*]] = td.cast %[[B]] : tensor<?x4x8x8xbf16> -> tensor<?x4x8x8xf32>
// CHECK: td.batch_matmul %[[B]]
// CHECK: td.mul %[[W]]
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, target = <backend = cuda, sm = 90>>} {
  func.func @step(%s: tensor<?x4x8x8xf32>, %v: tensor<?x8x4x16xf32>, %g: tensor<?x4x8x8xf32>) -> (tensor<?x8x4x16xf32>, tensor<?x4x8x8xf32>) {
    %p = td.softmax %s : tensor<?x4x8x8xf32>
    %0 = td.batch_matmul %p, %v {swap_b = true, swap_output = true} : tensor<?x4x8x8xf32>, tensor<?x8x4x16xf32> -> tensor<?x8x4x16xf32>
    %1 = td.mul %p, %g : tensor<?x4x8x8xf32>
    return %0, %1 : tensor<?x8x4x16xf32>, tensor<?x4x8x8xf32>
  }
}

// -----

// A CPU's does not.
// CHECK-LABEL: func.func @step
// CHECK-NOT: bf16
module attributes {exec.config = #exec.config<precision = mixed_bfloat16>} {
  func.func @step(%q: tensor<?x8x4x16xf32>, %k: tensor<?x8x4x16xf32>) -> tensor<?x4x8x8xf32> {
    %0 = td.batch_matmul %q, %k {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x8x4x16xf32>, tensor<?x8x4x16xf32> -> tensor<?x4x8x8xf32>
    return %0 : tensor<?x4x8x8xf32>
  }
}

// -----

// Without the attribute nothing changes.
// CHECK-LABEL: func.func @step
// CHECK-NOT: bf16
module attributes {exec.config = #exec.config<precision = float32>} {
  func.func @step(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
    %0 = td.matmul %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    return %0 : tensor<?x16xf32>
  }
}

// -----

// expected-error @+1 {{the allow list names "sofmax", which is no op; docs/reference/ops.md lists all}}
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <allow = ["sofmax"]>>} {
}

// -----

// expected-error @+1 {{the deny list names "mat_mul", which is no op (did you mean matmul?)}}
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <deny = ["mat_mul"]>>} {
}

// -----

// expected-error @+1 {{the allow list names apply_sgd, which always computes in float32}}
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <allow = ["apply_sgd"]>>} {
}

// -----

// expected-error @+1 {{matmul stands in two lists}}
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <allow = ["matmul"], deny = ["matmul"]>>} {
}

// -----

// expected-error @+1 {{the allow list names batch_matmul, which always computes in float32}}
module attributes {exec.config = #exec.config<precision = mixed_bfloat16, precision_lists = <allow = ["batch_matmul"]>>} {
}
