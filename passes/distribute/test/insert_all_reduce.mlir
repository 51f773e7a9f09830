// RUN: tandem-opt %s -td-insert-all-reduce -split-input-file | FileCheck %s

// Global sums get an all-reduce, replica-wide ones do not; td.cross_replica says where they become one value. Those wait
// for the first that is read, and stand side by side then.
// CHECK-LABEL: func.func @step
module attributes {td.replicas = 2 : i64} {
  func.func @step(%x: tensor<?x4xf32>)
      -> (tensor<4xf32> {td.output = "g"}, tensor<4xf32> {td.update = @moving}, tensor<4xf32> {td.update = @gamma}) {
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
    // CHECK-NEXT: %[[E:.*]] = td.exp %[[M]]#1
    // CHECK-NEXT: %[[A:.*]] = td.all_reduce "mean" %[[N]]
    // CHECK-NEXT: %[[B:.*]] = td.all_reduce "sum" %[[E]]
    // CHECK-NEXT: %[[C:.*]] = td.neg %[[B]]
    // CHECK: return %[[R]], %[[A]], %[[C]]
    %n = td.neg %m : tensor<4xf32>
    %mean = td.cross_replica "mean" %n : tensor<4xf32>
    %e = td.exp %m : tensor<4xf32>
    %sum = td.cross_replica "sum" %e : tensor<4xf32>
    %c = td.neg %sum : tensor<4xf32>
    return %g, %mean, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// One replica needs no collective.
// CHECK-LABEL: func.func @step
// CHECK-NOT: td.all_reduce
// CHECK-NOT: td.cross_replica
module attributes {td.replicas = 1 : i64} {
  func.func @step(%x: tensor<?x4xf32>) -> (tensor<4xf32> {td.output = "g"}) {
    %g = td.map_shards (%x : tensor<?x4xf32>) reduce ["sum"] scope ["replica"] lanes 8 rows 8 shard 8 -> (tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce "sum", %xs axes [0] scope "replica" : tensor<?x4xf32> -> tensor<4xf32>
      td.yield %a : tensor<4xf32>
    }
    %m = td.cross_replica "mean" %g : tensor<4xf32>
    return %m : tensor<4xf32>
  }
}
