// A sum over the batch between a pooling and its gradient, as batch norm has it: they end up in two maps, and the places
// of the maxima go from one to the other.
// RUN: tandem-opt %s --compile-to=distribute | FileCheck %s

// CHECK: %[[FIRST:.*]]:{{.*}} = exec.map_microbatches
// CHECK: td.max_pool_argmax
// CHECK: exec.map_microbatches({{.*}}%[[FIRST]]#
// CHECK-NOT: td.max_pool_grad
// CHECK: td.max_pool_argmax_grad

module attributes {exec.config = #exec.config<mode = "train", devices = ["cpu:0"], batch = 64>} {
  func.func @main() {
    %x = td.input "x" : tensor<?x4x5x3xf32>
    %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32> -> tensor<?x2x2x3xf32>
    %s = td.reduce sum, %y axes [0, 1, 2] : tensor<?x2x2x3xf32> -> tensor<3xf32>
    %b = td.broadcast %s dims [3] : tensor<3xf32> -> tensor<?x2x2x3xf32>
    %dy = td.sub %y, %b : tensor<?x2x2x3xf32>
    %dx = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32>, tensor<?x2x2x3xf32> -> tensor<?x4x5x3xf32>
    %r = td.reduce max, %dx axes [0, 1, 2, 3] : tensor<?x4x5x3xf32> -> tensor<f32>
    td.output "r", %r : tensor<f32>
    return
  }
}
