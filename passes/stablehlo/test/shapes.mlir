// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=2 -split-input-file | FileCheck %s

// CHECK-LABEL: @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>
// CHECK: %[[C:.*]] = "stablehlo.constant"() {value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>} : () -> tensor<4xf32>
// CHECK: %[[B:.*]] = "stablehlo.broadcast_in_dim"(%[[C]]) {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: %[[J:.*]] = "stablehlo.concatenate"(%[[X]], %[[B]]) {dimension = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
// CHECK: %[[S:.*]] = "stablehlo.slice"(%[[J]]) {limit_indices = array<i64: 2, 7>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x6xf32>
// CHECK: %[[R:.*]] = "stablehlo.reshape"(%[[S]]) : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
// CHECK: %[[T:.*]] = "stablehlo.transpose"(%[[R]]) {permutation = array<i64: 0, 2, 1>} : (tensor<2x2x3xf32>) -> tensor<2x3x2xf32>
// CHECK: %[[V:.*]] = "stablehlo.constant"() {value = dense<-1.000000e+00> : tensor<f32>}
// CHECK: "stablehlo.pad"(%[[T]], %[[V]]) {edge_padding_high = array<i64: 0, 0, 2>, edge_padding_low = array<i64: 0, 1, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<2x3x2xf32>, tensor<f32>) -> tensor<2x4x4xf32>
func.func @step(%x: tensor<?x4xf32> {td.input = "x"}) -> (tensor<?x4x4xf32> {td.output = "y"}) {
  %c = td.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = td.broadcast %c dims [1] : tensor<4xf32> -> tensor<?x4xf32>
  %j = td.concat %x, %b axis 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %s = td.slice %j begin [0, 1] size [-1, 6] : tensor<?x8xf32> -> tensor<?x6xf32>
  %r = td.reshape %s : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %t = td.transpose %r perm [0, 2, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  %p = td.pad %t low [0, 1, 0] high [0, 0, 2] value -1.0 : tensor<?x3x2xf32> -> tensor<?x4x4xf32>
  return %p : tensor<?x4x4xf32>
}

// -----

// CHECK-LABEL: @main(
// CHECK: "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<2x3xi64>
func.func @step(%x: tensor<?x3xi64> {td.input = "x"}) -> (tensor<?x3xi64> {td.output = "y"}) {
  %0 = td.iota axis 0 : tensor<?x3xi64>
  %1 = td.add %x, %0 : tensor<?x3xi64>
  return %1 : tensor<?x3xi64>
}
