// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
  // CHECK: td.erf %{{.*}} : tensor<?x3xf32>
  %0 = td.erf %x : tensor<?x3xf32>
  // CHECK: td.gelu %{{.*}} : tensor<?x3xf32>
  %1 = td.gelu %x : tensor<?x3xf32>
  // CHECK: td.gelu %{{.*}} {approximate = true} : tensor<?x3xf32>
  %2 = td.gelu %x {approximate = true} : tensor<?x3xf32>
  // CHECK: td.gelu_grad %{{.*}}, %{{.*}} {approximate = true} : tensor<?x3xf32>
  %3 = td.gelu_grad %1, %x {approximate = true} : tensor<?x3xf32>
  return %0, %1, %2, %3 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
}

// -----

func.func @gelu_of_int(%x: tensor<3xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = td.gelu %x : tensor<3xi32>
  return
}
