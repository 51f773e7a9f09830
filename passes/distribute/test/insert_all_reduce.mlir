// RUN: tandem-opt %s -td-insert-all-reduce -split-input-file | FileCheck %s

// Global sums get an all-reduce, replica-wide ones do not; td.cross_replica says where they become one value. Those wait
// for the first that is read, and stand side by side then.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%x: tensor<?x4xf32>)
      -> (tensor<4xf32> {td.output = "g"}, tensor<4xf32> {td.update = @moving}, tensor<4xf32> {td.update = @gamma}) {
    // CHECK: %[[M:.*]]:2 = exec.map_microbatches
    %g, %m = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum, sum] scope [global, replica] lanes 8 rows 8 microbatch 8
        -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce sum, %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      %b = td.reduce sum, %xs axes [0] scope replica : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %a, %b : tensor<4xf32>, tensor<4xf32>
    }
    // CHECK: %[[R:.*]] = exec.all_reduce sum %[[M]]#0
    // CHECK: %[[N:.*]] = td.neg %[[M]]#1
    // CHECK-NEXT: %[[E:.*]] = td.exp %[[M]]#1
    // CHECK-NEXT: %[[A:.*]] = exec.all_reduce mean %[[N]]
    // CHECK-NEXT: %[[B:.*]] = exec.all_reduce sum %[[E]]
    // CHECK-NEXT: %[[C:.*]] = td.neg %[[B]]
    // CHECK: return %[[R]], %[[A]], %[[C]]
    %n = td.neg %m : tensor<4xf32>
    %mean = td.cross_replica mean %n : tensor<4xf32>
    %e = td.exp %m : tensor<4xf32>
    %sum = td.cross_replica sum %e : tensor<4xf32>
    %c = td.neg %sum : tensor<4xf32>
    return %g, %mean, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// One replica needs no collective.
// CHECK-LABEL: func.func @step
// CHECK-NOT: exec.all_reduce
// CHECK-NOT: td.cross_replica
module attributes {exec.config = #exec.config<>} {
  func.func @step(%x: tensor<?x4xf32>) -> (tensor<4xf32> {td.output = "g"}) {
    %g = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce sum, %xs axes [0] scope replica : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %a : tensor<4xf32>
    }
    %m = td.cross_replica mean %g : tensor<4xf32>
    return %m : tensor<4xf32>
  }
}
