// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=2 -split-input-file | FileCheck %s

// CHECK-LABEL: @main(
// CHECK: %[[Z:.*]] = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>}
// CHECK: "stablehlo.reduce"(%{{.*}}, %[[Z]]) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: %[[S:.*]] = "stablehlo.add"(%[[A]], %[[B]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[S]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {dimensions = array<i64: 1, 2>} : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2xf32>
func.func @step(%x: tensor<?x3x4xf32> {td.input = "x"}) -> (tensor<?xf32> {td.output = "y"}) {
  %0 = td.reduce sum, %x axes [1, 2] : tensor<?x3x4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// What nothing is combined to.
// CHECK-LABEL: @main(
// CHECK: "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>}
// CHECK: "stablehlo.maximum"
// CHECK: "stablehlo.constant"() {value = dense<2147483647> : tensor<i32>}
// CHECK: "stablehlo.minimum"
// CHECK: "stablehlo.constant"() {value = dense<1> : tensor<i32>}
// CHECK: "stablehlo.multiply"
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}, %i: tensor<?x3xi32> {td.input = "i"})
    -> (tensor<?xf32> {td.output = "max"}, tensor<?xi32> {td.output = "min"}, tensor<?xi32> {td.output = "prod"}) {
  %0 = td.reduce max, %x axes [1] : tensor<?x3xf32> -> tensor<?xf32>
  %1 = td.reduce min, %i axes [1] : tensor<?x3xi32> -> tensor<?xi32>
  %2 = td.reduce prod, %i axes [1] : tensor<?x3xi32> -> tensor<?xi32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xi32>
}

// -----

// The first of the largest elements. A NaN is infinity as the first element, else -infinity.
// CHECK-LABEL: @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK: %[[I:.*]] = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi64>
// CHECK: %[[N:.*]] = "stablehlo.compare"(%[[X]], %[[X]])
// CHECK-SAME: comparison_direction NE
// CHECK: %[[C:.*]] = "stablehlo.select"(%[[N]], %{{.*}}, %[[X]])
// CHECK: %[[L:.*]] = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>}
// CHECK: %[[E:.*]] = "stablehlo.constant"() {value = dense<9223372036854775807> : tensor<i64>}
// CHECK: %[[R:.*]]:2 = "stablehlo.reduce"(%[[C]], %[[I]], %[[L]], %[[E]]) ({
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[AI:.*]]: tensor<i64>, %[[B:.*]]: tensor<f32>, %[[BI:.*]]: tensor<i64>):
// CHECK: "stablehlo.return"(%{{.*}}, %{{.*}}) : (tensor<f32>, tensor<i64>) -> ()
// CHECK: }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<f32>, tensor<i64>) -> (tensor<2xf32>, tensor<2xi64>)
// CHECK: return %[[R]]#1
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}) -> (tensor<?xi64> {td.output = "y"}) {
  %0 = td.argmax %x axis 1 : tensor<?x3xf32> -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// Composite ops are taken apart.
// CHECK-LABEL: @main(
// CHECK: "stablehlo.maximum"
// CHECK: "stablehlo.exponential"
// CHECK: "stablehlo.divide"
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}) -> (tensor<?x3xf32> {td.output = "y"}) {
  %0 = td.softmax %x : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
