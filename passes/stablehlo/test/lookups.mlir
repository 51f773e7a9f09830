// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=2 -split-input-file | FileCheck %s

// An index out of range gives NaN.
// CHECK-LABEL: @main(
// CHECK-SAME: %[[I:.*]]: tensor<2x7xi32> {tandem.input = "i"}, %[[T:.*]]: tensor<9x4xf32>
// CHECK: %[[G:.*]] = "stablehlo.gather"(%[[T]], %[[I]]) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}
// CHECK-SAME: : (tensor<9x4xf32>, tensor<2x7xi32>) -> tensor<2x7x4xf32>
// CHECK: %[[L:.*]] = "stablehlo.constant"() {value = dense<8> : tensor<i32>}
// CHECK: %[[N:.*]] = "stablehlo.clamp"(%{{.*}}, %[[I]], %[[L]]) : (tensor<i32>, tensor<2x7xi32>, tensor<i32>) -> tensor<2x7xi32>
// CHECK: %[[E:.*]] = "stablehlo.compare"(%[[I]], %[[N]])
// CHECK: %[[B:.*]] = "stablehlo.broadcast_in_dim"(%[[E]]) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x7xi1>) -> tensor<2x7x4xi1>
// CHECK: %[[X:.*]] = "stablehlo.constant"() {value = dense<0x7FC00000> : tensor<2x7x4xf32>}
// CHECK: "stablehlo.select"(%[[B]], %[[G]], %[[X]])
func.func @step(%i: tensor<?x7xi32> {td.input = "i"}, %t: tensor<9x4xf32> {td.variable = @t})
    -> (tensor<?x7x4xf32> {td.output = "y"}) {
  %0 = td.gather %t, %i : (tensor<9x4xf32>, tensor<?x7xi32>) -> tensor<?x7x4xf32>
  return %0 : tensor<?x7x4xf32>
}

// -----

// Of integers it gives the nearest row, as StableHLO does.
// CHECK-LABEL: @main(
// CHECK: %[[G:.*]] = "stablehlo.gather"(
// CHECK-NEXT: return %[[G]]
func.func @step(%i: tensor<?xi64> {td.input = "i"}, %t: tensor<9xi32> {td.variable = @t})
    -> (tensor<?xi32> {td.output = "y"}) {
  %0 = td.gather %t, %i : (tensor<9xi32>, tensor<?xi64>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// CHECK-LABEL: @main(
// CHECK: %[[P:.*]] = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi64>
// CHECK: %[[I:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi64>) -> tensor<2x3xi64>
// CHECK: %[[E:.*]] = "stablehlo.compare"(%[[I]], %[[P]])
// CHECK: "stablehlo.convert"(%[[E]]) : (tensor<2x3xi1>) -> tensor<2x3xf32>
func.func @step(%i: tensor<?xi64> {td.input = "i"}) -> (tensor<?x3xf32> {td.output = "y"}) {
  %0 = td.one_hot %i : tensor<?xi64> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
