// RUN: tandem-opt %s -td-sum-moments-at-once -split-input-file | FileCheck %s

// Both sums of one read, over the rows of one replica; rows x 4 x 4 elements of a channel.
// CHECK-LABEL: func.func @step
// CHECK-DAG: %[[X:.*]] = td.cast %arg0 : tensor<?x4x4x8xf32> -> tensor<?x4x4x8xf64>
// CHECK-DAG: %[[SUM:.*]] = td.reduce sum, %[[X]] axes [0, 1, 2] scope replica
// CHECK-DAG: %[[SQUARE:.*]] = td.mul %[[X]], %[[X]]
// CHECK-DAG: %[[SQUARES:.*]] = td.reduce sum, %[[SQUARE]] axes [0, 1, 2] scope replica
// CHECK-DAG: %[[ROWS:.*]] = td.cast %arg1 : tensor<f32> -> tensor<f64>
// CHECK: %[[MEAN:.*]] = td.div %[[SUM]], %[[COUNT:.*]] :
// CHECK: %[[MEAN_OF_SQUARES:.*]] = td.div %[[SQUARES]], %[[COUNT]] :
// CHECK: %[[SQUARE_OF_MEAN:.*]] = td.mul %[[MEAN]], %[[MEAN]]
// CHECK: %[[VARIANCE:.*]] = td.sub %[[MEAN_OF_SQUARES]], %[[SQUARE_OF_MEAN]]
// CHECK: %[[NOT_NEGATIVE:.*]] = td.max %[[VARIANCE]]
// CHECK-DAG: %[[M:.*]] = td.cast %[[MEAN]] : tensor<8xf64> -> tensor<8xf32>
// CHECK-DAG: %[[V:.*]] = td.cast %[[NOT_NEGATIVE]] : tensor<8xf64> -> tensor<8xf32>
// CHECK: return %[[M]], %[[V]]
module attributes {exec.config = #exec.config<mode = "train", devices = ["gpu:0"], batch = 8, machine_model = "h100", target = <backend = cuda>>} {
  func.func @step(%x: tensor<?x4x4x8xf32>, %n: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %m, %v = td.batch_moments %x, %n scope replica : tensor<?x4x4x8xf32>, tensor<f32> -> tensor<8xf32>, tensor<8xf32>
    return %m, %v : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Over the rows of all replicas.
// CHECK-LABEL: func.func @all
// CHECK: td.reduce sum, {{.*}} axes [0] :
// CHECK: td.reduce sum, {{.*}} axes [0] :
module attributes {exec.config = #exec.config<mode = "train", devices = ["gpu:0"], batch = 8, machine_model = "a100", target = <backend = cuda>>} {
  func.func @all(%x: tensor<?x8xf32>, %n: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %m, %v = td.batch_moments %x, %n scope global : tensor<?x8xf32>, tensor<f32> -> tensor<8xf32>, tensor<8xf32>
    return %m, %v : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// A GPU whose doubles are slow reads the batch twice, later.
// CHECK-LABEL: func.func @slow_doubles
// CHECK: td.batch_moments
module attributes {exec.config = #exec.config<mode = "train", devices = ["gpu:0"], batch = 8, machine_model = "l40s", target = <backend = cuda>>} {
  func.func @slow_doubles(%x: tensor<?x8xf32>, %n: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %m, %v = td.batch_moments %x, %n scope replica : tensor<?x8xf32>, tensor<f32> -> tensor<8xf32>, tensor<8xf32>
    return %m, %v : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// And so does a CPU, whose microbatches stay in its cache.
// CHECK-LABEL: func.func @cpu
// CHECK: td.batch_moments
module attributes {exec.config = #exec.config<mode = "train", devices = ["cpu:0"], batch = 8, machine_model = "zen4">} {
  func.func @cpu(%x: tensor<?x8xf32>, %n: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %m, %v = td.batch_moments %x, %n scope replica : tensor<?x8xf32>, tensor<f32> -> tensor<8xf32>, tensor<8xf32>
    return %m, %v : tensor<8xf32>, tensor<8xf32>
  }
}
