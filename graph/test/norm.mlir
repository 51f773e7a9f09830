// RUN: tandem-opt %s | tandem-opt | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x10xf32>, %l: tensor<?xi32>, %n: tensor<f32>) {
  // CHECK: td.softmax %{{.*}} : tensor<?x10xf32>
  %0 = td.softmax %x : tensor<?x10xf32>
  // CHECK: td.log_softmax %{{.*}} : tensor<?x10xf32>
  %1 = td.log_softmax %x : tensor<?x10xf32>
  // CHECK: td.softmax_cross_entropy %{{.*}}, %{{.*}} : tensor<?x10xf32>, tensor<?x10xf32> -> tensor<?xf32>
  %2 = td.softmax_cross_entropy %0, %x : tensor<?x10xf32>, tensor<?x10xf32> -> tensor<?xf32>
  // CHECK: td.sparse_softmax_cross_entropy %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?x10xf32> -> tensor<?xf32>
  %3 = td.sparse_softmax_cross_entropy %l, %x : tensor<?xi32>, tensor<?x10xf32> -> tensor<?xf32>
  // CHECK: td.batch_moments %{{.*}}, %{{.*}} scope replica
  %4, %5 = td.batch_moments %x, %n scope replica : tensor<?x10xf32>, tensor<f32> -> tensor<10xf32>, tensor<10xf32>
  // CHECK: td.layer_norm %{{.*}} epsilon 1.000000e-03 : tensor<?x10xf32> -> tensor<?x10xf32>, tensor<?xf32>
  %6, %7 = td.layer_norm %x epsilon 1.0e-3 : tensor<?x10xf32> -> tensor<?x10xf32>, tensor<?xf32>
  return
}
