// A sum over the batch between a pooling and its gradient, as batch norm has it: they end up in two maps, and the places
// of the maxima go from one to the other.
// RUN: tandem-opt %s --compile-to=distribute | FileCheck %s

// CHECK: %[[FIRST:.*]]:{{.*}} = td.map_shards
// CHECK: td.max_pool_argmax
// CHECK: td.map_shards({{.*}}%[[FIRST]]#
// CHECK-NOT: td.max_pool_grad
// CHECK: td.max_pool_argmax_grad

module attributes {td.mode = "train", td.batch = 64 : i64, td.replicas = 1 : i64, td.devices = ["cpu:0"]} {
  func.func @main() {
    %x = td.input "x" : tensor<?x4x5x3xf32>
    %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32> -> tensor<?x2x2x3xf32>
    %s = td.reduce "sum", %y axes [0, 1, 2] : tensor<?x2x2x3xf32> -> tensor<3xf32>
    %b = td.broadcast %s dims [3] : tensor<3xf32> -> tensor<?x2x2x3xf32>
    %dy = td.sub %y, %b : tensor<?x2x2x3xf32>
    %dx = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32>, tensor<?x2x2x3xf32> -> tensor<?x4x5x3xf32>
    %r = td.reduce "max", %dx axes [0, 1, 2, 3] : tensor<?x4x5x3xf32> -> tensor<f32>
    td.output "r", %r : tensor<f32>
    return
  }
}
