// RUN: tandem-opt %s -td-record-pool-argmax -canonicalize -split-input-file | FileCheck %s

// The relu before the pooling: its mask goes into the places, and the backward part does not read the image.
// CHECK-LABEL: func.func @relu
// CHECK: %[[Y:.*]] = td.max_pool %arg0
// CHECK: %[[K:.*]] = td.max_pool_argmax %arg0 {{.*}} {positive = true} : {{.*}} -> tensor<?x2x2x3xui8>
// CHECK: %[[DY:.*]] = td.exp %[[Y]]
// CHECK: %[[DX:.*]] = td.max_pool_argmax_grad %[[K]], %[[DY]] size [4, 5]
// CHECK-NOT: td.select
// CHECK: return %[[DX]]
func.func @relu(%x: tensor<?x4x5x3xf32>) -> tensor<?x4x5x3xf32> {
  %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32> -> tensor<?x2x2x3xf32>
  %dy = td.exp %y : tensor<?x2x2x3xf32>
  %g = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32>, tensor<?x2x2x3xf32> -> tensor<?x4x5x3xf32>
  %c = td.constant dense<0.0> : tensor<f32>
  %zero = td.broadcast %c dims [] : tensor<f32> -> tensor<?x4x5x3xf32>
  %m = td.compare gt, %x, %zero : tensor<?x4x5x3xf32> -> tensor<?x4x5x3xi1>
  %r = td.select %m, %g, %zero : tensor<?x4x5x3xi1>, tensor<?x4x5x3xf32>
  return %r : tensor<?x4x5x3xf32>
}

// -----

// Without a relu, or where something else uses the gradient as well.
// CHECK-LABEL: func.func @plain
// CHECK: td.max_pool_argmax %arg0
// CHECK-NOT: positive
// CHECK: td.max_pool_argmax_grad
// CHECK: td.select
func.func @plain(%x: tensor<?x4x5x3xf32>) -> (tensor<?x4x5x3xf32>, tensor<?x4x5x3xf32>) {
  %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32> -> tensor<?x2x2x3xf32>
  %g = td.max_pool_grad %x, %y window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x5x3xf32>, tensor<?x2x2x3xf32> -> tensor<?x4x5x3xf32>
  %c = td.constant dense<0.0> : tensor<f32>
  %zero = td.broadcast %c dims [] : tensor<f32> -> tensor<?x4x5x3xf32>
  %m = td.compare gt, %x, %zero : tensor<?x4x5x3xf32> -> tensor<?x4x5x3xi1>
  %r = td.select %m, %g, %zero : tensor<?x4x5x3xi1>, tensor<?x4x5x3xf32>
  return %g, %r : tensor<?x4x5x3xf32>, tensor<?x4x5x3xf32>
}

// -----

// A pooling with other windows, none at all, or windows that a byte does not count.
// CHECK-LABEL: func.func @others
// CHECK-NOT: td.max_pool_argmax
func.func @others(%x: tensor<?x4x4x3xf32>, %dy: tensor<?x2x2x3xf32>, %wide: tensor<?x16x16x1xf32>)
    -> (tensor<?x2x2x3xf32>, tensor<?x4x4x3xf32>, tensor<?x1x1x1xf32>, tensor<?x16x16x1xf32>) {
  %y = td.max_pool %x window [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x4x4x3xf32> -> tensor<?x2x2x3xf32>
  %g = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x3xf32>, tensor<?x2x2x3xf32> -> tensor<?x4x4x3xf32>
  %z = td.max_pool %wide window [16, 16] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x16x16x1xf32> -> tensor<?x1x1x1xf32>
  %h = td.max_pool_grad %wide, %z window [16, 16] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x16x16x1xf32>, tensor<?x1x1x1xf32> -> tensor<?x16x16x1xf32>
  return %y, %g, %z, %h : tensor<?x2x2x3xf32>, tensor<?x4x4x3xf32>, tensor<?x1x1x1xf32>, tensor<?x16x16x1xf32>
}

// -----

// A relu that only poolings read moves behind them; the places are those of what it read.
// CHECK-LABEL: func.func @late_relu
// CHECK: %[[P:.*]] = td.max_pool %arg0
// CHECK: %[[Y:.*]] = td.relu %[[P]]
// CHECK: %[[K:.*]] = td.max_pool_argmax %arg0 {{.*}} {positive = true}
// CHECK: td.max_pool_argmax_grad %[[K]], %[[Y]]
func.func @late_relu(%z: tensor<?x4x4x3xf32>) -> tensor<?x4x4x3xf32> {
  %x = td.relu %z : tensor<?x4x4x3xf32>
  %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x3xf32> -> tensor<?x2x2x3xf32>
  %g = td.max_pool_grad %x, %y window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x3xf32>, tensor<?x2x2x3xf32> -> tensor<?x4x4x3xf32>
  %c = td.constant dense<0.0> : tensor<f32>
  %zero = td.broadcast %c dims [] : tensor<f32> -> tensor<?x4x4x3xf32>
  %m = td.compare gt, %x, %zero : tensor<?x4x4x3xf32> -> tensor<?x4x4x3xi1>
  %r = td.select %m, %g, %zero : tensor<?x4x4x3xi1>, tensor<?x4x4x3xf32>
  return %r : tensor<?x4x4x3xf32>
}

// -----

// A relu that something else reads as well stays, and so does one whose places come without the mask.
// CHECK-LABEL: func.func @early_relu
// CHECK: %[[X:.*]] = td.relu %arg0
// CHECK: td.max_pool %[[X]]
// CHECK: td.exp %[[X]]
func.func @early_relu(%z: tensor<?x4x4x3xf32>) -> (tensor<?x2x2x3xf32>, tensor<?x4x4x3xf32>) {
  %x = td.relu %z : tensor<?x4x4x3xf32>
  %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x4x4x3xf32> -> tensor<?x2x2x3xf32>
  %e = td.exp %x : tensor<?x4x4x3xf32>
  return %y, %e : tensor<?x2x2x3xf32>, tensor<?x4x4x3xf32>
}
