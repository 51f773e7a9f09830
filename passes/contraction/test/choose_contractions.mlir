// RUN: tandem-opt %s -td-choose-contractions -split-input-file -verify-diagnostics | FileCheck %s

// Before maps are formed rows are estimated: an eighth of the global batch. The first candidate that expects a gain is
// taken, else the library; what the others said is in the module.
// CHECK: module attributes {{.*}}exec.contractions = [
// CHECK-SAME: #exec.contraction_report<name = "dense/MatMul", op = "matmul", rows = 8, verdicts = [
// CHECK-SAME: #exec.verdict<contraction = <algorithm = fused_product>, why_not = "neither its 8 columns nor its 4 inner elements are one">
// CHECK-SAME: #exec.verdict<contraction = <algorithm = library>, nanoseconds = {{[0-9]+}}, why_not = "">]>
// CHECK-SAME: #exec.contraction_report<name = "logit/MatMul", op = "matmul", rows = 8, verdicts = [
// CHECK-SAME: #exec.verdict<contraction = <algorithm = fused_product>, why_not = "">
// CHECK-SAME: why_not = "fused_product is taken">]>
// CHECK-LABEL: func.func @step
// CHECK: td.matmul {{.*}} {exec.contraction = #exec.contraction<algorithm = library>}
// CHECK: td.matmul {{.*}} {exec.contraction = #exec.contraction<algorithm = fused_product>}
module attributes {exec.config = #exec.config<batch = 32, devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>, %v: tensor<8x1xf32>) -> tensor<?x1xf32> {
    %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x8xf32> -> tensor<?x8xf32> loc("dense/MatMul")
    %1 = td.matmul %0, %v : tensor<?x8xf32>, tensor<8x1xf32> -> tensor<?x1xf32> loc("logit/MatMul")
    return %1 : tensor<?x1xf32>
  }
}

// -----

// The user's choice of a layer holds for its gradients too, where the algorithm is able; the last one counts.
// CHECK: why_not = "winograd_f2 is taken"
// CHECK-LABEL: func.func @step
// CHECK: td.conv2d {{.*}} {exec.contraction = #exec.contraction<algorithm = winograd, tile = 2, block = {{[0-9]+}}, forced = true>}
// CHECK: td.conv2d_filter_grad {{.*}} {exec.contraction = #exec.contraction<algorithm = winograd, tile = 2, block = {{[0-9]+}}, forced = true>}
// CHECK: td.conv2d {{.*}} {exec.contraction = #exec.contraction<algorithm = library, forced = true>}
// CHECK: td.conv2d {{.*}} {exec.contraction = #exec.contraction<algorithm = library>}
module attributes {exec.config = #exec.config<choices = [
    #exec.contraction_override<name = "*", contraction = <algorithm = winograd, tile = 2, forced = true>>,
    #exec.contraction_override<name = "b", contraction = <algorithm = library, forced = true>>]>} {
  func.func @step(%x: tensor<?x8x8x64xf32>, %k: tensor<3x3x64x64xf32>, %p: tensor<1x1x64x64xf32>)
      -> (tensor<?x8x8x64xf32>, tensor<3x3x64x64xf32>, tensor<?x8x8x64xf32>, tensor<?x8x8x64xf32>) {
    %0 = td.conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x64xf32>, tensor<3x3x64x64xf32> -> tensor<?x8x8x64xf32> loc("a/Conv2D")
    %1 = td.conv2d_filter_grad %x, %0 size [3, 3] strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x64xf32>, tensor<?x8x8x64xf32> -> tensor<3x3x64x64xf32> loc("gradients/a/Conv2D/Conv2dFilterGrad")
    %2 = td.conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x64xf32>, tensor<3x3x64x64xf32> -> tensor<?x8x8x64xf32> loc("b/Conv2D")
    %3 = td.conv2d %x, %p strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x64xf32>, tensor<1x1x64x64xf32> -> tensor<?x8x8x64xf32> loc("c/Conv2D")
    return %0, %1, %2, %3 : tensor<?x8x8x64xf32>, tensor<3x3x64x64xf32>, tensor<?x8x8x64xf32>, tensor<?x8x8x64xf32>
  }
}

// -----

// A name that nothing has is most likely misspelt.
// expected-warning@+1 {{--choose=dence:winograd names no contraction of this program; it has: dense/MatMul}}
module attributes {exec.config = #exec.config<choices = [#exec.contraction_override<name = "dence", contraction = <algorithm = winograd, forced = true>>]>} {
  func.func @step(%x: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
    %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x8xf32> -> tensor<?x8xf32> loc("dense/MatMul")
    return %0 : tensor<?x8xf32>
  }
}
