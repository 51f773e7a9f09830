// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=2 -split-input-file | FileCheck %s

// CHECK-LABEL: @main(
// CHECK: "stablehlo.dot_general"(%{{.*}}, %{{.*}}) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}
// CHECK-SAME: : (tensor<2x5x3xf32>, tensor<4x3xf32>) -> tensor<2x5x4xf32>
func.func @step(%x: tensor<?x5x3xf32> {td.input = "x"}, %w: tensor<4x3xf32> {td.variable = @w})
    -> (tensor<?x5x4xf32> {td.output = "y"}) {
  %0 = td.matmul %x, %w {transpose_b = true} : tensor<?x5x3xf32>, tensor<4x3xf32> -> tensor<?x5x4xf32>
  return %0 : tensor<?x5x4xf32>
}

// -----

// Rows of weights are summed, behind one another.
// CHECK-LABEL: @main(
// CHECK: #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>
// CHECK-SAME: : (tensor<6x5x3xf32>, tensor<6x5x4xf32>) -> tensor<3x4xf32>
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}, %a: tensor<6x5x3xf32> {td.variable = @a},
                %b: tensor<6x5x4xf32> {td.variable = @b}) -> (tensor<?x4xf32> {td.output = "y"}) {
  %0 = td.matmul %a, %b {transpose_a = true} : tensor<6x5x3xf32>, tensor<6x5x4xf32> -> tensor<3x4xf32>
  %1 = td.matmul %x, %0 : tensor<?x3xf32>, tensor<3x4xf32> -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Heads lie inside positions: nothing is transposed but the result that is asked for so.
// CHECK-LABEL: @main(
// CHECK: %[[S:.*]] = "stablehlo.dot_general"(%{{.*}}, %{{.*}}) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>
// CHECK-SAME: : (tensor<2x5x4x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x4x5x5xf32>
// CHECK-NEXT: %[[M:.*]] = "stablehlo.dot_general"(%[[S]], %{{.*}}) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>
// CHECK-SAME: -> tensor<2x4x5x3xf32>
// CHECK-NEXT: "stablehlo.transpose"(%[[M]]) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x5x3xf32>) -> tensor<2x5x4x3xf32>
func.func @step(%x: tensor<?x5x4x3xf32> {td.input = "x"}) -> (tensor<?x5x4x3xf32> {td.output = "y"}) {
  %0 = td.batch_matmul %x, %x {swap_a = true, swap_b = true, transpose_b = true}
      : tensor<?x5x4x3xf32>, tensor<?x5x4x3xf32> -> tensor<?x4x5x5xf32>
  %1 = td.batch_matmul %0, %x {swap_b = true, swap_output = true}
      : tensor<?x4x5x5xf32>, tensor<?x5x4x3xf32> -> tensor<?x5x4x3xf32>
  return %1 : tensor<?x5x4x3xf32>
}
