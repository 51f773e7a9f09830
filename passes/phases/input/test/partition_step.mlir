// RUN: sed s/SERVER/-1/ %s | tandem-opt -td-partition-step | FileCheck %s --check-prefixes=CHECK,WORKER
// RUN: sed s/SERVER/0/ %s | tandem-opt -td-partition-step | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: sed s/SERVER/1/ %s | tandem-opt -td-partition-step | FileCheck %s --check-prefixes=CHECK,SECOND

// Gradients of @w (on server 0) and @b (on server 1), clipped by their global norm: the norm and the factor are the
// worker's, as is the number of examples that the gradients are divided by; multiplying by the factor, weight decay,
// the rate and the update are the server's.
module attributes {exec.config = #exec.config<part = #exec.part<servers = 2, server = SERVER>>} {
  // WORKER-DAG: td.variable @w : tensor<4x4xf32> {exec.updated_by_others, trainable}
  // WORKER-DAG: td.variable @b : tensor<4xf32> {exec.updated_by_others, trainable}
  // FIRST-DAG: td.variable @w : tensor<4x4xf32> {trainable}
  // FIRST-DAG: td.variable @"w/Momentum"
  // FIRST-DAG: td.variable @"ps0/0/{{.*}}" : tensor<f32> {exec.updated_by_others}
  // FIRST-DAG: td.variable @"ps0/1/{{.*}}" : tensor<4x4xf32>
  // SECOND-DAG: td.variable @b : tensor<4xf32> {trainable}
  // SECOND-DAG: td.variable @"ps1/0/{{.*}}" : tensor<f32>
  // SECOND-DAG: td.variable @"ps1/1/{{.*}}" : tensor<4xf32>
  td.variable @w : tensor<4x4xf32> {trainable}
  td.variable @"w/Momentum" : tensor<4x4xf32> {slot_of = "w"}
  td.variable @b : tensor<4xf32> {trainable}

  // CHECK-LABEL: func.func @step(
  // WORKER-SAME: %[[X:.*]]: tensor<?x4xf32> {td.input = "x"}
  // WORKER-SAME: %[[N:.*]]: tensor<f32> {td.scalar = "example_count"}
  // WORKER-SAME: %[[LR:.*]]: tensor<f32> {td.scalar = "learning_rate"}
  // WORKER-SAME: %[[W:.*]]: tensor<4x4xf32> {td.variable = @w}
  // WORKER-SAME: %[[B:.*]]: tensor<4xf32> {td.variable = @b})
  // WORKER-SAME: -> (tensor<f32> {td.output = "loss"}, tensor<f32> {td.output = "rate"},
  // WORKER-SAME: tensor<f32> {td.output = "ps0/0/"}, tensor<4x4xf32> {td.output = "ps0/1/"},
  // WORKER-SAME: tensor<f32> {td.output = "ps1/0/"}, tensor<4xf32> {td.output = "ps1/1/"})
  // FIRST-SAME: %[[LR:.*]]: tensor<f32> {td.scalar = "learning_rate"},
  // FIRST-SAME: %[[W:.*]]: tensor<4x4xf32> {td.variable = @w},
  // FIRST-SAME: %[[M:.*]]: tensor<4x4xf32> {td.variable = @"w/Momentum"},
  // FIRST-SAME: %[[F:.*]]: tensor<f32> {td.variable = @"ps0/0/"},
  // FIRST-SAME: %[[G:.*]]: tensor<4x4xf32> {td.variable = @"ps0/1/"})
  // FIRST-SAME: -> (tensor<4x4xf32> {td.update = @w}, tensor<4x4xf32> {td.update = @"w/Momentum"})
  // SECOND-SAME: %[[LR:.*]]: tensor<f32> {td.scalar = "learning_rate"},
  // SECOND-SAME: %[[B:.*]]: tensor<4xf32> {td.variable = @b},
  // SECOND-SAME: %[[F:.*]]: tensor<f32> {td.variable = @"ps1/0/"},
  // SECOND-SAME: %[[G:.*]]: tensor<4xf32> {td.variable = @"ps1/1/"})
  // SECOND-SAME: -> (tensor<4xf32> {td.update = @b})
  func.func @step(%x: tensor<?x4xf32> {td.input = "x"}, %n: tensor<f32> {td.scalar = "example_count"},
                  %lr: tensor<f32> {td.scalar = "learning_rate"}, %w: tensor<4x4xf32> {td.variable = @w},
                  %m: tensor<4x4xf32> {td.variable = @"w/Momentum"}, %b: tensor<4xf32> {td.variable = @b})
      -> (tensor<4x4xf32> {td.update = @w}, tensor<4x4xf32> {td.update = @"w/Momentum"},
          tensor<4xf32> {td.update = @b}, tensor<f32> {td.output = "loss"}, tensor<f32> {td.output = "rate"}) {
    // The rate's half is of a scalar: both servers compute it, and the worker for its output.
    // WORKER: td.constant
    // WORKER: %[[RATE:.*]] = td.mul %[[LR]]
    // FIRST: %[[RATE:.*]] = td.mul %[[LR]]
    // SECOND: %[[RATE:.*]] = td.mul %[[LR]]
    %half = td.constant dense<0.5> : tensor<f32>
    %rate = td.mul %lr, %half : tensor<f32>
    // WORKER: td.matmul
    // WORKER: td.div
    %y = td.matmul %x, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %bs = td.broadcast %b dims [1] : tensor<4xf32> -> tensor<?x4xf32>
    %z = td.add %y, %bs : tensor<?x4xf32>
    %sum = td.reduce sum, %z axes [0, 1] : tensor<?x4xf32> -> tensor<f32>
    %loss = td.div %sum, %n : tensor<f32>
    // WORKER: %[[GW:.*]] = td.matmul
    // WORKER: %[[GB:.*]] = td.reduce
    %gw = td.matmul %x, %z {transpose_a = true} : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<4x4xf32>
    %gb = td.reduce sum, %z axes [0] : tensor<?x4xf32> -> tensor<4xf32>
    %sqw = td.mul %gw, %gw : tensor<4x4xf32>
    %sw = td.reduce sum, %sqw axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
    %sqb = td.mul %gb, %gb : tensor<4xf32>
    %sb = td.reduce sum, %sqb axes [0] : tensor<4xf32> -> tensor<f32>
    %s = td.add %sw, %sb : tensor<f32>
    // WORKER: %[[FACTOR:.*]] = td.sqrt
    // WORKER-NOT: td.broadcast
    // WORKER: return %{{.*}}, %[[RATE]], %[[FACTOR]], %[[GW]], %[[FACTOR]], %[[GB]]
    %norm = td.sqrt %s : tensor<f32>
    // FIRST: %[[FS:.*]] = td.broadcast %[[F]]
    // FIRST: %[[CLIPPED:.*]] = td.mul %[[G]], %[[FS]]
    // FIRST: %[[DECAYED:.*]] = td.add %[[CLIPPED]], %[[W]]
    // FIRST: td.apply_momentum %[[W]], %[[M]], %[[DECAYED]], %[[RATE]]
    %fw = td.broadcast %norm dims [] : tensor<f32> -> tensor<4x4xf32>
    %cw = td.mul %gw, %fw : tensor<4x4xf32>
    %dw = td.add %cw, %w : tensor<4x4xf32>
    %nw, %nm = td.apply_momentum %w, %m, %dw, %rate {momentum = 0.9}
        : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    // SECOND: %[[FS:.*]] = td.broadcast %[[F]]
    // SECOND: %[[CLIPPED:.*]] = td.mul %[[G]], %[[FS]]
    // SECOND: td.apply_sgd %[[B]], %[[CLIPPED]], %[[RATE]]
    %fb = td.broadcast %norm dims [] : tensor<f32> -> tensor<4xf32>
    %cb = td.mul %gb, %fb : tensor<4xf32>
    %nb = td.apply_sgd %b, %cb, %rate : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return %nw, %nm, %nb, %loss, %rate : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  }
}
