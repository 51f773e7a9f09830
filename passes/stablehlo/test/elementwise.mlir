// RUN: tandem-opt %s -allow-unregistered-dialect -td-to-stablehlo=rows=2 -split-input-file | FileCheck %s

// CHECK-LABEL: @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32> {tandem.input = "x"}, %[[P:.*]]: tensor<2x3xf32> {tandem.input = "p"})
// CHECK: %[[A:.*]] = "stablehlo.negate"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: %[[B:.*]] = "stablehlo.logistic"(%[[A]])
// CHECK: %[[C:.*]] = "stablehlo.rsqrt"(%[[B]])
// CHECK: %[[D:.*]] = "stablehlo.power"(%[[C]], %[[P]])
// CHECK: %[[E:.*]] = "stablehlo.minimum"(%[[D]], %[[X]])
// CHECK: return %[[E]]
func.func @step(%x: tensor<?x3xf32> {td.input = "x"}, %p: tensor<?x3xf32> {td.input = "p"})
    -> (tensor<?x3xf32> {td.output = "y"}) {
  %0 = td.neg %x : tensor<?x3xf32>
  %1 = td.sigmoid %0 : tensor<?x3xf32>
  %2 = td.rsqrt %1 : tensor<?x3xf32>
  %3 = td.pow %2, %p : tensor<?x3xf32>
  %4 = td.min %3, %x : tensor<?x3xf32>
  %5 = td.stop_gradient %4 : tensor<?x3xf32>
  return %5 : tensor<?x3xf32>
}

// -----

// Comparisons say of what their operands are.
// CHECK-LABEL: @main(
// CHECK: %[[A:.*]] = "stablehlo.compare"(%{{.*}}, %{{.*}}) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}
// CHECK-SAME: : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// CHECK: %[[B:.*]] = "stablehlo.compare"(%{{.*}}, %{{.*}}) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}
// CHECK: %[[C:.*]] = "stablehlo.compare"(%{{.*}}, %{{.*}}) {compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}
// CHECK: %[[D:.*]] = "stablehlo.and"(%[[A]], %[[B]])
// CHECK: "stablehlo.select"(%[[D]], %{{.*}}, %[[C]]) : (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
func.func @step(%x: tensor<?xf32> {td.input = "x"}, %i: tensor<?xi32> {td.input = "i"},
                %u: tensor<?xui8> {td.input = "u"}) -> (tensor<?xi1> {td.output = "y"}) {
  %0 = td.compare lt, %x, %x : tensor<?xf32> -> tensor<?xi1>
  %1 = td.compare ne, %i, %i : tensor<?xi32> -> tensor<?xi1>
  %2 = td.compare ge, %u, %u : tensor<?xui8> -> tensor<?xi1>
  %3 = td.and %0, %1 : tensor<?xi1>
  %4 = td.select %3, %0, %2 : tensor<?xi1>, tensor<?xi1>
  return %4 : tensor<?xi1>
}

// -----

// A NaN is true, as every number but 0.
// CHECK-LABEL: @main(
// CHECK: %[[I:.*]] = "stablehlo.convert"(%{{.*}}) : (tensor<2xf32>) -> tensor<2xi32>
// CHECK: %[[Z:.*]] = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf32>}
// CHECK: %[[B:.*]] = "stablehlo.compare"(%{{.*}}, %[[Z]])
// CHECK-SAME: comparison_direction NE
// CHECK: return %[[I]], %[[B]]
func.func @step(%x: tensor<?xf32> {td.input = "x"})
    -> (tensor<?xi32> {td.output = "i"}, tensor<?xi1> {td.output = "b"}) {
  %0 = td.cast %x : tensor<?xf32> -> tensor<?xi32>
  %1 = td.cast %x : tensor<?xf32> -> tensor<?xi1>
  return %0, %1 : tensor<?xi32>, tensor<?xi1>
}

// -----

// erf is a quotient of polynomials of the limited operand.
// CHECK-LABEL: @main(
// CHECK: %[[S:.*]] = "stablehlo.multiply"(%{{.*}}, %{{.*}})
// CHECK: %[[L:.*]] = "stablehlo.clamp"(%{{.*}}, %[[S]], %{{.*}})
// CHECK: %[[E:.*]] = "stablehlo.divide"(
// CHECK: "stablehlo.add"(%[[E]], %{{.*}})
// CHECK-NOT: chlo.
func.func @step(%x: tensor<?xf32> {td.input = "x"}) -> (tensor<?xf32> {td.output = "y"}) {
  %0 = td.gelu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @main(
// CHECK: "stablehlo.tanh"(
// CHECK-NOT: stablehlo.clamp
func.func @step(%x: tensor<?xf64> {td.input = "x"}) -> (tensor<?xf64> {td.output = "y"}) {
  %0 = td.gelu %x {approximate = true} : tensor<?xf64>
  return %0 : tensor<?xf64>
}
