// RUN: tandem-opt %s | tandem-opt | FileCheck %s

// CHECK-LABEL: @round_trip
func.func @round_trip(%seed: tensor<i64>, %step: tensor<i64>) {
  // CHECK: td.random_uniform %{{.*}}, %{{.*}} key -42 shape [-1, 10] -> tensor<?x10xf32>
  %0 = td.random_uniform %seed, %step key -42 shape [-1, 10] -> tensor<?x10xf32>
  return
}
