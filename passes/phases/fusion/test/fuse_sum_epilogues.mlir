// RUN: tandem-opt %s -td-fuse-sum-epilogues -split-input-file | FileCheck %s

// What follows from a sum is computed where it is added up; what it needs besides becomes an operand of the map.
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]]:2 = exec.map_microbatches(%arg0, %arg1 : tensor<?x8xf32>, tensor<8xf32>) reduce [sum, sum] scope [replica, replica]
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?x8xf32>, %[[N:.*]]: tensor<8xf32>):
// CHECK-NEXT: %[[S:.*]]:2 = exec.launch @sum(%[[X]], %[[N]])
// CHECK-NEXT: exec.yield %[[S]]#0, %[[S]]#1
// CHECK: return %[[M]]#0, %[[M]]#1
// CHECK: func.func private @sum(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[R:.*]] = td.reduce
// CHECK-NEXT: %[[D:.*]] = td.div %[[R]], %arg1
// CHECK-NEXT: return %[[R]], %[[D]]
// CHECK-NOT: @mean
module attributes {exec.config = #exec.config<batch = 4, target = <backend = cuda>>} {
func.func @step(%x: tensor<?x8xf32>, %n: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = exec.map_microbatches(%x : tensor<?x8xf32>) reduce [sum] scope [replica] lanes 1 rows 4 microbatch 4 -> (tensor<8xf32>) {
  ^bb0(%a: tensor<?x8xf32>):
    %0 = exec.launch @sum(%a) : (tensor<?x8xf32>) -> tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %m = exec.launch @mean(%s, %n) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %s, %m : tensor<8xf32>, tensor<8xf32>
}
func.func private @sum(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.reduce sum, %x axes [0] scope replica : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @mean(%s: tensor<8xf32>, %n: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.div %s, %n : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

// Not where a microbatch has a part of the rows only,
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @mean
module attributes {exec.config = #exec.config<batch = 4, target = <backend = cuda>>} {
func.func @step(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %s = exec.map_microbatches(%x : tensor<?x8xf32>) reduce [sum] scope [replica] lanes 1 rows 4 microbatch 2 -> (tensor<8xf32>) {
  ^bb0(%a: tensor<?x8xf32>):
    %0 = exec.launch @sum(%a) : (tensor<?x8xf32>) -> tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %m = exec.launch @mean(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}
func.func private @sum(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @mean(%s: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.sqrt %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

// nor on CPUs, nor where the sums are of several launches or the kernel updates a variable.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @both
// CHECK: exec.launch @update
module attributes {exec.config = #exec.config<batch = 4, target = <backend = cuda>>} {
func.func @step(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %lr: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s:2 = exec.map_microbatches(%x : tensor<?x8xf32>) reduce [sum, sum] scope [replica, replica] lanes 1 rows 4 microbatch 4 -> (tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: tensor<?x8xf32>):
    %0 = exec.launch @sum(%a) : (tensor<?x8xf32>) -> tensor<8xf32>
    %1 = exec.launch @other(%a) : (tensor<?x8xf32>) -> tensor<8xf32>
    exec.yield %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
  %m = exec.launch @both(%s#0, %s#1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %u = exec.launch @update(%w, %s#0, %lr) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %m, %u : tensor<8xf32>, tensor<8xf32>
}
func.func private @sum(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @other(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @both(%s: tensor<8xf32>, %t: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.add %s, %t : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @update(%w: tensor<8xf32>, %g: tensor<8xf32>, %lr: tensor<f32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.apply_sgd %w, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>)
  return %0 : tensor<8xf32>
}
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: exec.launch @mean
module attributes {exec.config = #exec.config<batch = 4>} {
func.func @step(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %s = exec.map_microbatches(%x : tensor<?x8xf32>) reduce [sum] scope [replica] lanes 1 rows 4 microbatch 4 -> (tensor<8xf32>) {
  ^bb0(%a: tensor<?x8xf32>):
    %0 = exec.launch @sum(%a) : (tensor<?x8xf32>) -> tensor<8xf32>
    exec.yield %0 : tensor<8xf32>
  }
  %m = exec.launch @mean(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}
func.func private @sum(%x: tensor<?x8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @mean(%s: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kernel = #exec.kernel_kind<cluster>} {
  %0 = td.sqrt %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
