// RUN: tandem-opt %s -td-form-attention -split-input-file | FileCheck %s

// Heads as dense layers give them, with the gradient: products, softmax and masks are gone.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[Q:.*]]: tensor<?x512x8x16xf32>, %[[K:.*]]: tensor<?x512x8x16xf32>, %[[V:.*]]: tensor<?x512x8x24xf32>, %[[DY:.*]]: tensor<?x512x8x24xf32>
// CHECK-NEXT: %[[Y:.*]], %[[M:.*]], %[[S:.*]] = td.attention %[[Q]], %[[K]], %[[V]] {causal, heads_inside, low = -1.000000e+09 : f64, scale = 2.500000e-01 : f64}
// CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = td.attention_grad %[[Q]], %[[K]], %[[V]], %[[Y]], %[[M]], %[[S]], %[[DY]] {causal, heads_inside, low = -1.000000e+09 : f64, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return %[[Y]], %[[DQ]], %[[DK]], %[[DV]]
func.func @step(%q: tensor<?x512x8x16xf32>, %k: tensor<?x512x8x16xf32>, %v: tensor<?x512x8x24xf32>, %dy: tensor<?x512x8x24xf32>)
    -> (tensor<?x512x8x24xf32>, tensor<?x512x8x16xf32>, tensor<?x512x8x16xf32>, tensor<?x512x8x24xf32>) {
  %scale = td.constant dense<2.5e-01> : tensor<f32>
  %scales = td.broadcast %scale dims [] : tensor<f32> -> tensor<?x8x512x512xf32>
  %low = td.constant dense<-1.0e9> : tensor<f32>
  %lows = td.broadcast %low dims [] : tensor<f32> -> tensor<?x8x512x512xf32>
  %zero = td.constant dense<0.0> : tensor<f32>
  %zeros = td.broadcast %zero dims [] : tensor<f32> -> tensor<?x8x512x512xf32>
  %i = td.iota axis 0 : tensor<512x512xi32>
  %j = td.iota axis 1 : tensor<512x512xi32>
  %c = td.compare ge, %i, %j : tensor<512x512xi32> -> tensor<512x512xi1>
  %earlier = td.broadcast %c dims [2, 3] : tensor<512x512xi1> -> tensor<?x8x512x512xi1>
  %0 = td.batch_matmul %q, %k {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x512x8x16xf32>, tensor<?x512x8x16xf32> -> tensor<?x8x512x512xf32>
  %1 = td.mul %0, %scales : tensor<?x8x512x512xf32>
  %2 = td.select %earlier, %1, %lows : tensor<?x8x512x512xi1>, tensor<?x8x512x512xf32>
  %p = td.softmax %2 : tensor<?x8x512x512xf32>
  %y = td.batch_matmul %p, %v {swap_b = true, swap_output = true} : tensor<?x8x512x512xf32>, tensor<?x512x8x24xf32> -> tensor<?x512x8x24xf32>
  %dp = td.batch_matmul %dy, %v {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x512x8x24xf32>, tensor<?x512x8x24xf32> -> tensor<?x8x512x512xf32>
  %dv = td.batch_matmul %p, %dy {swap_b = true, swap_output = true, transpose_a = true} : tensor<?x8x512x512xf32>, tensor<?x512x8x24xf32> -> tensor<?x512x8x24xf32>
  %3 = td.mul %dp, %p : tensor<?x8x512x512xf32>
  %4 = td.reduce sum, %3 axes [3] : tensor<?x8x512x512xf32> -> tensor<?x8x512xf32>
  %5 = td.broadcast %4 dims [0, 1, 2] : tensor<?x8x512xf32> -> tensor<?x8x512x512xf32>
  %6 = td.sub %dp, %5 : tensor<?x8x512x512xf32>
  %7 = td.mul %p, %6 : tensor<?x8x512x512xf32>
  %8 = td.select %earlier, %7, %zeros : tensor<?x8x512x512xi1>, tensor<?x8x512x512xf32>
  %9 = td.mul %8, %scales : tensor<?x8x512x512xf32>
  %dq = td.batch_matmul %9, %k {swap_b = true, swap_output = true} : tensor<?x8x512x512xf32>, tensor<?x512x8x16xf32> -> tensor<?x512x8x16xf32>
  %dk = td.batch_matmul %9, %q {swap_b = true, swap_output = true, transpose_a = true} : tensor<?x8x512x512xf32>, tensor<?x512x8x16xf32> -> tensor<?x512x8x16xf32>
  return %y, %dq, %dk, %dv : tensor<?x512x8x24xf32>, tensor<?x512x8x16xf32>, tensor<?x512x8x16xf32>, tensor<?x512x8x24xf32>
}

// -----

// Keys that are masked, heads in front of positions, no scale, no gradient.
// CHECK-LABEL: func.func @step
// CHECK: td.attention %{{.*}}, %{{.*}}, %{{.*}} keep %{{.*}} {low = -5.000000e+00 : f64, scale = 1.000000e+00 : f64}
// CHECK-NOT: td.softmax
func.func @step(%x: tensor<?x8x512x16xf32>, %keep: tensor<?x512xi1>) -> tensor<?x8x512x16xf32> {
  %low = td.constant dense<-5.0> : tensor<f32>
  %lows = td.broadcast %low dims [] : tensor<f32> -> tensor<?x8x512x512xf32>
  %kept = td.broadcast %keep dims [0, 3] : tensor<?x512xi1> -> tensor<?x8x512x512xi1>
  %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x512xf32>
  %1 = td.select %kept, %0, %lows : tensor<?x8x512x512xi1>, tensor<?x8x512x512xf32>
  %p = td.softmax %1 : tensor<?x8x512x512xf32>
  %y = td.batch_matmul %p, %x : tensor<?x8x512x512xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x16xf32>
  return %y : tensor<?x8x512x16xf32>
}

// -----

// Scores that are not so low are not left out.
// CHECK-LABEL: func.func @step
// CHECK: td.softmax
func.func @step(%x: tensor<?x8x512x16xf32>) -> tensor<?x8x512x16xf32> {
  %low = td.constant dense<-5.0> : tensor<f32>
  %lows = td.broadcast %low dims [] : tensor<f32> -> tensor<?x8x512x512xf32>
  %i = td.iota axis 0 : tensor<512x512xi32>
  %j = td.iota axis 1 : tensor<512x512xi32>
  %c = td.compare ge, %i, %j : tensor<512x512xi32> -> tensor<512x512xi1>
  %earlier = td.broadcast %c dims [2, 3] : tensor<512x512xi1> -> tensor<?x8x512x512xi1>
  %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x512xf32>
  %1 = td.select %earlier, %0, %lows : tensor<?x8x512x512xi1>, tensor<?x8x512x512xf32>
  %p = td.softmax %1 : tensor<?x8x512x512xf32>
  %y = td.batch_matmul %p, %x : tensor<?x8x512x512xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x16xf32>
  return %y : tensor<?x8x512x16xf32>
}

// -----

// Something else reads the weights; scores that fit into a cache.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-2: td.softmax
// CHECK-NOT: td.attention
func.func @step(%x: tensor<?x8x512x16xf32>, %z: tensor<?x2x32x16xf32>) -> (tensor<?x8x512x16xf32>, tensor<?x8x512x512xf32>, tensor<?x2x32x16xf32>) {
  %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x512xf32>
  %p = td.softmax %0 : tensor<?x8x512x512xf32>
  %y = td.batch_matmul %p, %x : tensor<?x8x512x512xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x16xf32>
  %1 = td.batch_matmul %z, %z {transpose_b = true} : tensor<?x2x32x16xf32>, tensor<?x2x32x16xf32> -> tensor<?x2x32x32xf32>
  %2 = td.softmax %1 : tensor<?x2x32x32xf32>
  %3 = td.batch_matmul %2, %z : tensor<?x2x32x32xf32>, tensor<?x2x32x16xf32> -> tensor<?x2x32x16xf32>
  return %y, %p, %3 : tensor<?x8x512x16xf32>, tensor<?x8x512x512xf32>, tensor<?x2x32x16xf32>
}

// -----

// What looks like a gradient comes before the output.
// CHECK-LABEL: func.func @step
// CHECK: td.softmax
// CHECK-NOT: td.attention
func.func @step(%x: tensor<?x8x512x16xf32>, %dy: tensor<?x8x512x16xf32>) -> (tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32>) {
  %0 = td.batch_matmul %x, %x {transpose_b = true} : tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x512xf32>
  %p = td.softmax %0 : tensor<?x8x512x512xf32>
  %dv = td.batch_matmul %p, %dy {transpose_a = true} : tensor<?x8x512x512xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x16xf32>
  %y = td.batch_matmul %p, %x : tensor<?x8x512x512xf32>, tensor<?x8x512x16xf32> -> tensor<?x8x512x16xf32>
  return %y, %dv : tensor<?x8x512x16xf32>, tensor<?x8x512x16xf32>
}
