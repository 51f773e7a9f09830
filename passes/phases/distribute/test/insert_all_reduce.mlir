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
    // CHECK: %[[R:.*]] = exec.all_reduce sum %[[M]]#0 {names = ["td.reduce"]}
    // CHECK: %[[N:.*]] = td.neg %[[M]]#1
    // CHECK-NEXT: %[[E:.*]] = td.exp %[[M]]#1
    // CHECK-NEXT: %[[A:.*]] = exec.all_reduce mean %[[N]] {names = ["update of moving"]}
    // CHECK-NEXT: %[[B:.*]] = exec.all_reduce sum %[[E]] {names = ["exponential/Exp"]}
    // CHECK-NEXT: %[[C:.*]] = td.neg %[[B]]
    // CHECK: return %[[R]], %[[A]], %[[C]]
    %n = td.neg %m : tensor<4xf32>
    %mean = td.cross_replica mean %n : tensor<4xf32>
    %e = td.exp %m : tensor<4xf32> loc("exponential/Exp")
    %sum = td.cross_replica sum %e : tensor<4xf32>
    %c = td.neg %sum : tensor<4xf32>
    return %g, %mean, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Statistics that are combined for moving averages alone are combined at the end, side by side, however many ops read
// each of them.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step(%x: tensor<?x4xf32>, %p: tensor<4xf32> {td.variable = @p}, %q: tensor<4xf32> {td.variable = @q})
      -> (tensor<4xf32> {td.update = @p}, tensor<4xf32> {td.update = @q}, tensor<4xf32> {td.output = "y"}) {
    // CHECK: %[[M:.*]]:2 = exec.map_microbatches
    %m:2 = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum, sum] scope [replica, replica] lanes 8 rows 8 microbatch 8
        -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %a = td.reduce sum, %xs axes [0] scope replica : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %a, %a : tensor<4xf32>, tensor<4xf32>
    }
    // CHECK: td.exp
    // CHECK-NEXT: %[[A:.*]] = exec.all_reduce mean %[[M]]#0
    // CHECK-NEXT: %[[B:.*]] = exec.all_reduce mean %[[M]]#1
    // CHECK-NEXT: td.sub %[[A]]
    // CHECK-NEXT: td.add
    // CHECK-NEXT: td.sub %[[B]]
    // CHECK-NEXT: td.add
    %a = td.cross_replica mean %m#0 : tensor<4xf32>
    %apart = td.sub %a, %p : tensor<4xf32>
    %new_p = td.add %apart, %p : tensor<4xf32>
    %b = td.cross_replica mean %m#1 : tensor<4xf32>
    %bpart = td.sub %b, %q : tensor<4xf32>
    %new_q = td.add %bpart, %q : tensor<4xf32>
    %y = td.exp %m#1 : tensor<4xf32>
    return %new_p, %new_q, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
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

// -----

// Gradients that are sent as bfloat16: rounded in front of the all-reduces, which stand side by side. Not so single
// numbers, statistics, which reach a moving average or the rows of the batch, and what is shown.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], communication_type = bf16>} {
  td.variable @w : tensor<4xf32> {trainable}
  td.variable @b : tensor<1xf32> {trainable}
  td.variable @moving : tensor<4xf32>
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"})
      -> (tensor<4xf32> {td.update = @w}, tensor<1xf32> {td.update = @b}, tensor<4xf32> {td.update = @moving},
          tensor<4xf32> {td.output = "shown"}) {
    // CHECK: %[[M:.*]]:5 = exec.map_microbatches
    // CHECK: %[[D:.*]] = td.cast %[[M]]#0 : tensor<4xf32> -> tensor<4xbf16>
    // CHECK-NEXT: %[[R:.*]] = exec.all_reduce sum %[[D]] {{.*}} : tensor<4xbf16>
    // CHECK-NEXT: exec.all_reduce sum %[[M]]#1 {{.*}} : tensor<1xf32>
    // CHECK-NEXT: exec.all_reduce sum %[[M]]#2 {{.*}} : tensor<4xf32>
    // CHECK-NEXT: exec.all_reduce sum %[[M]]#3 {{.*}} : tensor<4xf32>
    // CHECK-NEXT: exec.all_reduce sum %[[M]]#4 {{.*}} : tensor<4xf32>
    // CHECK-NEXT: %[[F:.*]] = td.cast %[[R]] : tensor<4xbf16> -> tensor<4xf32>
    // CHECK: td.neg %[[F]]
    %dw, %db, %mean, %shown, %scale = exec.map_microbatches (%x : tensor<?x4xf32>)
        reduce [sum, sum, sum, sum, sum] scope [global, global, global, global, global] lanes 8 rows 8 microbatch 8
        -> (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %0 = td.reduce sum, %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32>
      %1 = td.reduce sum, %xs axes [0, 1] : tensor<?x4xf32> -> tensor<f32>
      %2 = td.reshape %1 : tensor<f32> -> tensor<1xf32>
      exec.yield %0, %2, %0, %0, %0 : tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    %scaled = exec.map_microbatches (%x, %scale : tensor<?x4xf32>, tensor<4xf32>)
        reduce [sum] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<4xf32>) {
    ^bb0(%xs: tensor<?x4xf32>, %s: tensor<4xf32>):
      %4 = td.broadcast %s dims [1] : tensor<4xf32> -> tensor<?x4xf32>
      %5 = td.mul %xs, %4 : tensor<?x4xf32>
      %6 = td.reduce sum, %5 axes [0] scope replica : tensor<?x4xf32> -> tensor<4xf32>
      exec.yield %6 : tensor<4xf32>
    }
    %moved = td.neg %mean : tensor<4xf32>
    %out = td.add %shown, %shown : tensor<4xf32>
    %3 = td.neg %dw : tensor<4xf32>
    %part = td.mul %scale, %scaled : tensor<4xf32>
    %new = td.add %3, %part : tensor<4xf32>
    %bias = td.neg %db : tensor<1xf32>
    return %new, %bias, %moved, %out : tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Names. What an op of the gradients computes is a gradient of the variable whose update, or that of whose slot, it
// flows into; by way of a norm it flows into others. A statistic is none, although it is part of such an update.
// CHECK-LABEL: func.func @step
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  td.variable @"dense/kernel" : tensor<4xf32> {trainable}
  td.variable @"dense/kernel/Momentum" : tensor<4xf32> {slot_of = "dense/kernel"}
  td.variable @"dense/bias" : tensor<f32> {trainable}
  td.variable @moving : tensor<4xf32>
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"}, %v: tensor<4xf32> {td.variable = @"dense/kernel/Momentum"})
      -> (tensor<4xf32> {td.update = @"dense/kernel/Momentum"}, tensor<f32> {td.update = @"dense/bias"},
          tensor<4xf32> {td.update = @moving}, tensor<f32> {td.output = "loss"}, tensor<f32> {td.output = "none"}) {
    %dw, %db, %mean, %loss, %none = exec.map_microbatches (%x : tensor<?x4xf32>)
        reduce [sum, sum, sum, sum, sum] scope [global, global, global, global, global] lanes 8 rows 8 microbatch 8
        -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>) {
    ^bb0(%xs: tensor<?x4xf32>):
      %0 = td.exp %xs : tensor<?x4xf32>
      %1 = td.reduce sum, %0 axes [0] : tensor<?x4xf32> -> tensor<4xf32> loc("gradients/dense/MatMul/MatMul")
      %2 = td.reduce sum, %0 axes [0, 1] : tensor<?x4xf32> -> tensor<f32> loc("gradients/dense/Add/Reduce")
      %3 = td.reduce sum, %xs axes [0] : tensor<?x4xf32> -> tensor<4xf32> loc("norm/Mean")
      %4 = td.reduce sum, %xs axes [0, 1] : tensor<?x4xf32> -> tensor<f32> loc("loss/Sum")
      %5 = td.reduce sum, %0 axes [0, 1] : tensor<?x4xf32> -> tensor<f32> loc("gradients/loss/Div/Reduce")
      exec.yield %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>
    }
    // CHECK: exec.all_reduce sum %{{.*}}#0 {names = ["gradient of dense/kernel"]}
    // CHECK-NEXT: exec.all_reduce sum %{{.*}}#1 {names = ["gradient of dense/bias"]}
    // CHECK-NEXT: exec.all_reduce sum %{{.*}}#2 {names = ["norm/Mean"]}
    // CHECK-NEXT: exec.all_reduce sum %{{.*}}#3 {names = ["loss/Sum"]}
    // CHECK-NEXT: exec.all_reduce sum %{{.*}}#4 {names = ["gradients/loss/Div/Reduce"]}
    %norm = td.reduce sum, %dw axes [0] : tensor<4xf32> -> tensor<f32>
    %clipped = td.mul %norm, %db : tensor<f32>
    %centred = td.sub %dw, %mean : tensor<4xf32>
    %momentum = td.add %centred, %v : tensor<4xf32>
    %average = td.neg %mean : tensor<4xf32>
    return %momentum, %clipped, %average, %loss, %none : tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  }
}
