// RUN: tandem-opt %s -td-insert-all-reduce -split-input-file | FileCheck %s

// Global sums get an all-reduce, replica-wide ones do not, but an update made from one is averaged.
// CHECK-LABEL: func.func @step
module attributes {td.replicas = 2 : i64} {
  func.func @step(%x: tensor<?x4xf32>) -> (tensor<4xf32> {td.output = "g"}, tensor<4xf32> {td.update = @moving}) {
    // CHECK: %[[M:.*]]:2 = td.map_shards
    %g, %m = td.map_shards (%x : tensor<?x4xf32>) reduce ["sum", "sum"] scope ["global", "replica"] lanes 8 rows 8 shard 8
        -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce "sum", %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      %b = td.reduce "sum", %xs axes [0] scope "replica" : tensor<?x4xf32> -> tensor<4xf32>
      td.yield %a, %b : tensor<4xf32>, tensor<4xf32>
    }
    // CHECK: %[[R:.*]] = td.all_reduce "sum" %[[M]]#0
    // CHECK: %[[N:.*]] = td.neg %[[M]]#1
    // CHECK: %[[A:.*]] = td.all_reduce "mean" %[[N]]
    // CHECK: return %[[R]], %[[A]]
    %n = td.neg %m : tensor<4xf32>
    return %g, %n : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// One replica needs no collective.
// CHECK-LABEL: func.func @step
// CHECK-NOT: td.all_reduce
module attributes {td.replicas = 1 : i64} {
  func.func @step(%x: tensor<?x4xf32>) -> (tensor<4xf32> {td.output = "g"}) {
    %g = td.map_shards (%x : tensor<?x4xf32>) reduce ["sum"] scope ["global"] lanes 8 rows 8 shard 8 -> (tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce "sum", %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      td.yield %a : tensor<4xf32>
    }
    return %g : tensor<4xf32>
  }
}
