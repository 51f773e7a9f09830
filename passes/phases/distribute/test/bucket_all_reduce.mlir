// RUN: tandem-opt %s -td-bucket-all-reduce -td-number-collectives -split-input-file | FileCheck %s

// Neighbours of one kind share a bucket, up to the limits; what depends on a collective is in a later one.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], bucket_bytes = 48, first_bucket_bytes = 32>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<64xf32>, %e: tensor<4xi64>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<64xf32>, tensor<4xi64>) {
    // CHECK: %[[B0:.*]]:2 = exec.all_reduce sum %arg0, %arg1 {bucket = 0 : i64, group = array<i64: 0, 1>, seq = 0 : i64}
    // CHECK: %[[B1:.*]] = exec.all_reduce sum %arg2 {bucket = 1 : i64, group = array<i64: 0, 1>, seq = 1 : i64}
    // CHECK: %[[B2:.*]] = exec.all_reduce sum %arg3 {bucket = 2 : i64, group = array<i64: 0, 1>, seq = 2 : i64}
    // CHECK: %[[B3:.*]] = exec.all_reduce sum %arg4 {bucket = 3 : i64, group = array<i64: 0, 1>, seq = 3 : i64}
    // CHECK: return %[[B0]]#0, %[[B0]]#1, %[[B1]], %[[B2]], %[[B3]]
    %0 = exec.all_reduce sum %a : tensor<4xf32> -> tensor<4xf32>
    %1 = exec.all_reduce sum %b : tensor<4xf32> -> tensor<4xf32>
    %2 = exec.all_reduce sum %c : tensor<4xf32> -> tensor<4xf32>
    %3 = exec.all_reduce sum %d : tensor<64xf32> -> tensor<64xf32>
    %4 = exec.all_reduce sum %e : tensor<4xi64> -> tensor<4xi64>
    return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<64xf32>, tensor<4xi64>
  }
}

// -----

// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%a: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[X:.*]] = exec.all_reduce sum %arg0 {bucket = 0
    // CHECK: exec.all_reduce sum %[[X]] {bucket = 1
    %0 = exec.all_reduce sum %a : tensor<4xf32> -> tensor<4xf32>
    %1 = exec.all_reduce sum %0 : tensor<4xf32> -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// Cross-device ops add up; they know no maximum.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], cross_device_ops = "Mine">} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // CHECK: exec.all_reduce sum %arg0 {algorithm = "Mine", bucket = 0
    // CHECK: exec.all_reduce mean %arg1 {algorithm = "Mine", bucket = 1
    // CHECK: exec.all_reduce max %arg2 {bucket = 2
    %0 = exec.all_reduce sum %a : tensor<4xf32> -> tensor<4xf32>
    %1 = exec.all_reduce mean %b : tensor<4xf32> -> tensor<4xf32>
    %2 = exec.all_reduce max %c : tensor<4xf32> -> tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A bucket has the names of its members.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%a: tensor<4xf32>, %b: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
    // CHECK: exec.all_reduce sum %arg0, %arg1 {bucket = 0 : i64, group = array<i64: 0, 1>, names = ["gradient of a", "b/Sum"], seq = 0 : i64}
    %0 = exec.all_reduce sum %a {names = ["gradient of a"]} : tensor<4xf32> -> tensor<4xf32>
    %1 = exec.all_reduce sum %b {names = ["b/Sum"]} : tensor<8xf32> -> tensor<8xf32>
    return %0, %1 : tensor<4xf32>, tensor<8xf32>
  }
}
