// RUN: tandem-opt %s | tandem-opt | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x5x6x3xf32>, %dy: tensor<?x2x3x3xf32>) {
  // CHECK: td.max_pool %{{.*}} window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32> -> tensor<?x2x3x3xf32>
  %0 = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32> -> tensor<?x2x3x3xf32>
  // CHECK: td.max_pool_grad %{{.*}}, %{{.*}} window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32>, tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  %1 = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x5x6x3xf32>, tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  // CHECK: td.avg_pool %{{.*}} window [3, 3] strides [2, 2] low [1, 0] high [1, 1] : tensor<?x5x6x3xf32> -> tensor<?x3x3x3xf32>
  %2 = td.avg_pool %x window [3, 3] strides [2, 2] low [1, 0] high [1, 1] : tensor<?x5x6x3xf32> -> tensor<?x3x3x3xf32>
  // CHECK: td.avg_pool_grad %{{.*}} size [5, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  %3 = td.avg_pool_grad %dy size [5, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
  return
}
