// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s
// RUN: tandem-opt %s -split-input-file -verify-diagnostics -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x3xf32>, %u: tensor<?xui8>) -> (tensor<?x3xf32>, tensor<?x3xi1>, tensor<?xf32>) {
  // CHECK: td.sigmoid %{{.*}} : tensor<?x3xf32>
  %0 = td.sigmoid %x : tensor<?x3xf32>
  // CHECK: td.is_finite %{{.*}} : tensor<?x3xf32> -> tensor<?x3xi1>
  %1 = td.is_finite %0 : tensor<?x3xf32> -> tensor<?x3xi1>
  // CHECK: td.cast %{{.*}} : tensor<?xui8> -> tensor<?xf32>
  %2 = td.cast %u : tensor<?xui8> -> tensor<?xf32>
  return %0, %1, %2 : tensor<?x3xf32>, tensor<?x3xi1>, tensor<?xf32>
}

// -----

// FOLD-LABEL: @folds
// FOLD-SAME: %[[X:.*]]: tensor<?xf32>
func.func @folds(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = td.neg %x : tensor<?xf32>
  %1 = td.neg %0 : tensor<?xf32>
  // FOLD-NEXT: %[[R:.*]] = td.relu %[[X]]
  %2 = td.relu %x : tensor<?xf32>
  %3 = td.relu %2 : tensor<?xf32>
  %4 = td.cast %x : tensor<?xf32> -> tensor<?xf32>
  %5 = td.stop_gradient %x : tensor<?xf32>
  // FOLD-NEXT: return %[[X]], %[[R]], %[[X]], %[[X]]
  return %1, %3, %4, %5 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

func.func @exp_of_int(%x: tensor<3xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = td.exp %x : tensor<3xi32>
  return
}

// -----

func.func @cast_shape(%x: tensor<3xi32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = td.cast %x : tensor<3xi32> -> tensor<4xf32>
  return
}
