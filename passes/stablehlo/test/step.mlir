// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=8 | FileCheck %s

td.variable @"dense/kernel" : tensor<4x2xf32> {trainable}
td.variable @unused : tensor<3xf32>

// Inputs and variables are arguments, which keep their order; the batch has a size; what no output depends on is left
// out; equal constants are one.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32> {tandem.input = "x"},
// CHECK-SAME: %[[W:.*]]: tensor<4x2xf32> {tandem.variable = "dense/kernel"},
// CHECK-SAME: %{{.*}}: tensor<3xf32> {tandem.variable = "unused"})
// CHECK-SAME: -> (tensor<8x2xf32> {tandem.output = "y"}, tensor<8x4xf32> {tandem.output = "same"})
// CHECK-NEXT: %[[P:.*]] = "stablehlo.dot_general"(%[[X]], %[[W]])
// CHECK-NEXT: %[[Z:.*]] = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<8x2xf32>}
// CHECK-NEXT: %[[A:.*]] = "stablehlo.maximum"(%[[P]], %[[Z]])
// CHECK-NEXT: %[[B:.*]] = "stablehlo.maximum"(%[[A]], %[[Z]])
// CHECK-NEXT: return %[[B]], %[[X]] : tensor<8x2xf32>, tensor<8x4xf32>
func.func @step(%x: tensor<?x4xf32> {td.input = "x"}, %w: tensor<4x2xf32> {td.variable = @"dense/kernel"},
                %u: tensor<3xf32> {td.variable = @unused})
    -> (tensor<?x2xf32> {td.output = "y"}, tensor<?x4xf32> {td.output = "same"}) {
  %0 = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x2xf32> -> tensor<?x2xf32>
  %1 = td.relu %0 : tensor<?x2xf32>
  %2 = td.relu %1 : tensor<?x2xf32>
  %3 = td.neg %2 : tensor<?x2xf32>
  %4 = td.exp %3 : tensor<?x2xf32>
  return %2, %x : tensor<?x2xf32>, tensor<?x4xf32>
}
