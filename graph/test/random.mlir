// RUN: tandem-opt %s -split-input-file -verify-diagnostics | tandem-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%seed: tensor<i64>, %step: tensor<i64>) {
  // CHECK: td.random_uniform %{{.*}}, %{{.*}} key -42 shape [-1, 10] -> tensor<?x10xf32>
  %0 = td.random_uniform %seed, %step key -42 shape [-1, 10] -> tensor<?x10xf32>
  return
}

// -----

func.func @batch_inside(%seed: tensor<i64>, %step: tensor<i64>) {
  // expected-error @+2 {{has a negative size in dimension 1; only dimension 0 may be the batch (-1)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = td.random_uniform %seed, %step key 1 shape [3, -1] -> tensor<3x4xf32>
  return
}
