// RUN: tandem-opt %s -td-insert-finite-check -split-input-file | FileCheck %s

// The check covers the map's sums behind their all-reduce; everything that only serves an update comes after it.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?xf32>, %w: tensor<f32>, %m: tensor<f32>)
    -> (tensor<f32> {td.update = @w}, tensor<f32> {td.update = @m}, tensor<f32> {td.output = "loss"}) {
  // CHECK: exec.map_microbatches
  %decayed = td.neg %m : tensor<f32>
  %g = exec.map_microbatches (%x : tensor<?xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>) {
  ^bb0(%xs: tensor<?xf32>):
    %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
    exec.yield %a : tensor<f32>
  }
  // CHECK: %[[R:.*]] = exec.all_reduce
  // CHECK: %[[LOSS:.*]] = td.relu %[[R]]
  // CHECK: exec.check_finite %[[R]]
  // CHECK: td.neg
  // CHECK: td.sub
  %r = exec.all_reduce sum %g : tensor<f32> -> tensor<f32>
  %new = td.sub %w, %r : tensor<f32>
  %loss = td.relu %r : tensor<f32>
  return %new, %decayed, %loss : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Nothing is updated: nothing is checked.
// CHECK-LABEL: func.func @step
// CHECK-NOT: exec.check_finite
func.func @step(%x: tensor<?xf32>) -> (tensor<f32> {td.output = "loss"}) {
  %g = exec.map_microbatches (%x : tensor<?xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>) {
  ^bb0(%xs: tensor<?xf32>):
    %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
    exec.yield %a : tensor<f32>
  }
  return %g : tensor<f32>
}

// -----

// A worker's part of a step updates nothing itself; what it sends to parameter servers is checked.
module attributes {exec.config = #exec.config<part = #exec.part<servers = 1>>} {
  // CHECK-LABEL: func.func @step
  func.func @step(%x: tensor<?xf32>) -> (tensor<f32> {td.output = "ps0/0/g"}) {
    // CHECK: %[[G:.*]] = exec.map_microbatches
    // CHECK: exec.check_finite %[[G]]
    %g = exec.map_microbatches (%x : tensor<?xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>) {
    ^bb0(%xs: tensor<?xf32>):
      %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
      exec.yield %a : tensor<f32>
    }
    return %g : tensor<f32>
  }
}

// -----

// A value of td.check_finite is checked as well, once, and no result any more; a constant or variable is not.
// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<f32> {td.update = @w}, tensor<f32> {td.output = "loss"})
func.func @step(%x: tensor<?xf32>, %w: tensor<f32>)
    -> (tensor<f32> {td.check_finite}, tensor<f32> {td.update = @w}, tensor<f32> {td.check_finite},
        tensor<f32> {td.check_finite}, tensor<f32> {td.check_finite}, tensor<f32> {td.output = "loss"}) {
  // CHECK: %[[SUM:.*]] = exec.map_microbatches
  %g = exec.map_microbatches (%x : tensor<?xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>) {
  ^bb0(%xs: tensor<?xf32>):
    %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
    exec.yield %a : tensor<f32>
  }
  // CHECK: %[[LOG:.*]] = td.log %[[SUM]]
  // CHECK: exec.check_finite %[[SUM]], %[[LOG]] :
  // CHECK: td.sub
  // CHECK: return %{{.*}}, %[[LOG]] :
  %log = td.log %g : tensor<f32>
  %new = td.sub %w, %log : tensor<f32>
  %c = td.constant dense<1.0> : tensor<f32>
  return %log, %new, %g, %w, %c, %log : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// An all-reduce of several values, one of which is checked, stays in front of the check.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?xf32>, %w: tensor<f32>)
    -> (tensor<f32> {td.update = @w}, tensor<f32> {td.check_finite}) {
  // CHECK: %[[R:.*]]:2 = exec.all_reduce
  // CHECK: exec.check_finite %{{.*}}, %[[R]]#1
  %g:2 = exec.map_microbatches (%x : tensor<?xf32>) reduce [sum, sum] scope [global, global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>, tensor<f32>) {
  ^bb0(%xs: tensor<?xf32>):
    %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
    exec.yield %a, %a : tensor<f32>, tensor<f32>
  }
  %log = td.log %g#1 : tensor<f32>
  %r:2 = exec.all_reduce mean %g#0, %log : tensor<f32>, tensor<f32> -> tensor<f32>, tensor<f32>
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// -----

// A sum that goes into another output than the loss alone is only watched, whatever map makes it.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?xf32>, %w: tensor<f32>)
    -> (tensor<f32> {td.update = @w}, tensor<f32> {td.output = "loss"}, tensor<f32> {td.output = "metric/m/total"},
        tensor<f32> {td.output = "metric/m/count"}) {
  // CHECK: exec.map_microbatches
  // CHECK: %[[SUMS:.*]]:3 = exec.map_microbatches
  // CHECK: exec.check_finite %[[SUMS]]#0, %[[SUMS]]#1 :
  %mean = exec.map_microbatches (%x : tensor<?xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>) {
  ^bb0(%xs: tensor<?xf32>):
    %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
    exec.yield %a : tensor<f32>
  }
  %g:3 = exec.map_microbatches (%x, %mean : tensor<?xf32>, tensor<f32>) reduce [sum, sum, sum] scope [global, global, global] lanes 8 rows 8 microbatch 8 -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  ^bb0(%xs: tensor<?xf32>, %ms: tensor<f32>):
    %a = td.reduce sum, %xs axes [0] : tensor<?xf32> -> tensor<f32>
    %b = td.mul %a, %ms : tensor<f32>
    exec.yield %a, %a, %b : tensor<f32>, tensor<f32>, tensor<f32>
  }
  %new = td.sub %w, %g#0 : tensor<f32>
  return %new, %g#1, %g#2, %mean : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
