// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s
// RUN: tandem-opt %s -split-input-file -verify-diagnostics -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: td.add %{{.*}}, %{{.*}} : tensor<?xf32>
  %0 = td.add %x, %y : tensor<?xf32>
  // CHECK: td.compare lt, %{{.*}}, %{{.*}} : tensor<?xf32> -> tensor<?xi1>
  %1 = td.compare lt, %x, %y : tensor<?xf32> -> tensor<?xi1>
  // CHECK: td.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi1>, tensor<?xf32>
  %2 = td.select %1, %0, %y : tensor<?xi1>, tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// FOLD-LABEL: @identities
// FOLD-SAME: %[[X:.*]]: tensor<?xf32>
func.func @identities(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = td.constant dense<0.0> : tensor<f32>
  %c1 = td.constant dense<1.0> : tensor<f32>
  %zero = td.broadcast %c0 dims [] : tensor<f32> -> tensor<?xf32>
  %one = td.broadcast %c1 dims [] : tensor<f32> -> tensor<?xf32>
  %0 = td.add %zero, %x : tensor<?xf32>
  %1 = td.mul %x, %one : tensor<?xf32>
  %2 = td.div %x, %one : tensor<?xf32>
  // FOLD-NEXT: return %[[X]], %[[X]], %[[X]]
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// A product with zero is not zero for infinite values, so it stays.
// FOLD-LABEL: @times_zero
func.func @times_zero(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = td.constant dense<0.0> : tensor<3xf32>
  // FOLD: td.mul
  %0 = td.mul %x, %zero : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @shapes(%x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'td.add' op requires the same type for all operands and results}}
  %0 = "td.add"(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @predicate(%x: tensor<3xf32>) {
  // expected-error @+2 {{to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error @+1 {{failed to parse Td_ComparePredicateAttr}}
  %0 = td.compare less, %x, %x : tensor<3xf32> -> tensor<3xi1>
  return
}
