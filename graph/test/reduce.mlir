// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s
// RUN: tandem-opt %s -split-input-file -verify-diagnostics -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x4x3xf32>) {
  // CHECK: td.reduce sum, %{{.*}} axes [0, 1] : tensor<?x4x3xf32> -> tensor<3xf32>
  %0 = td.reduce sum, %x axes [0, 1] : tensor<?x4x3xf32> -> tensor<3xf32>
  // CHECK: td.reduce max, %{{.*}} axes [0] scope replica : tensor<?x4x3xf32> -> tensor<4x3xf32>
  %1 = td.reduce max, %x axes [0] scope replica : tensor<?x4x3xf32> -> tensor<4x3xf32>
  // CHECK: td.argmax %{{.*}} axis 2 : tensor<?x4x3xf32> -> tensor<?x4xi64>
  %2 = td.argmax %x axis 2 : tensor<?x4x3xf32> -> tensor<?x4xi64>
  return
}

// -----

// FOLD-LABEL: @merge
func.func @merge(%x: tensor<?x4x3xf32>) -> (tensor<?xf32>, tensor<?x4x3xf32>) {
  // FOLD-NEXT: %[[S:.*]] = td.reduce sum, %arg0 axes [1, 2] : tensor<?x4x3xf32> -> tensor<?xf32>
  %0 = td.reduce sum, %x axes [1] : tensor<?x4x3xf32> -> tensor<?x3xf32>
  %1 = td.reduce sum, %0 axes [1] : tensor<?x3xf32> -> tensor<?xf32>
  %2 = td.reduce max, %x axes [] : tensor<?x4x3xf32> -> tensor<?x4x3xf32>
  // FOLD-NEXT: return %[[S]], %arg0
  return %1, %2 : tensor<?xf32>, tensor<?x4x3xf32>
}

// -----

func.func @kind(%x: tensor<?x3xf32>) {
  // expected-error @+2 {{to be one of: sum, max, min, prod}}
  // expected-error @+1 {{failed to parse Td_ReduceKindAttr}}
  %0 = td.reduce mean, %x axes [1] : tensor<?x3xf32> -> tensor<?xf32>
  return
}
