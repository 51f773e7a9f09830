// RUN: tandem-opt %s -td-outline-contractions -td-form-fusions -td-outline-kernels -split-input-file | FileCheck %s

// A kernel of its own, which knows the lanes of a replica; the map keeps its operands.
// CHECK: %[[MAP:.*]]:2 = exec.map_microbatches(%arg0 : tensor<?x512xf32>) reduce [keep, keep]
// CHECK: %{{.*}} = exec.launch @kernel_[[N:[0-9]+]](%[[MAP]]#0, %[[MAP]]#1) : (tensor<?x512xf32>, tensor<?x512xf32>) -> tensor<512x512xf32>
// CHECK: func.func private @kernel_[[N]]({{.*}}) -> tensor<512x512xf32> attributes {exec.kernel = #exec.kernel_kind<block>}
// CHECK-NEXT: exec.contraction matmul %arg0, %arg1 by weight_grad_blocks {lane_rows = 8 : i64, lanes = 4 : i64}
// CHECK-NEXT: return
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"], batch = 32>} {
  func.func @step(%x: tensor<?x512xf32>) -> tensor<512x512xf32> {
    %y:2 = exec.map_microbatches (%x : tensor<?x512xf32>) reduce [keep, keep] scope [replica, replica]
        lanes 8 rows 8 microbatch 8 -> (tensor<?x512xf32>, tensor<?x512xf32>) {
    ^bb0(%xs: tensor<?x512xf32>):
      %0 = td.relu %xs : tensor<?x512xf32>
      %1 = td.tanh %xs : tensor<?x512xf32>
      exec.yield %0, %1 : tensor<?x512xf32>, tensor<?x512xf32>
    }
    %dw = exec.contraction matmul %y#0, %y#1 by weight_grad_blocks : (tensor<?x512xf32>, tensor<?x512xf32>) -> tensor<512x512xf32>
    return %dw : tensor<512x512xf32>
  }
}

// -----

// CHECK: func.func private @kernel_{{[0-9]+}}({{.*}}) -> tensor<1x1x512x512xf32> attributes {exec.kernel = #exec.kernel_kind<block>}
// CHECK-NEXT: exec.contraction conv2d_filter_grad %arg0, %arg1 by weight_grad_blocks size [1, 1] strides [1, 1] low [0, 0] high [0, 0] {lane_rows = 8 : i64, lanes = 4 : i64}
module attributes {exec.config = #exec.config<batch = 32>} {
  func.func @step(%x: tensor<?x2x2x512xf32>) -> tensor<1x1x512x512xf32> {
    %y:2 = exec.map_microbatches (%x : tensor<?x2x2x512xf32>) reduce [keep, keep] scope [replica, replica]
        lanes 4 rows 8 microbatch 8 -> (tensor<?x2x2x512xf32>, tensor<?x2x2x512xf32>) {
    ^bb0(%xs: tensor<?x2x2x512xf32>):
      %0 = td.relu %xs : tensor<?x2x2x512xf32>
      %1 = td.tanh %xs : tensor<?x2x2x512xf32>
      exec.yield %0, %1 : tensor<?x2x2x512xf32>, tensor<?x2x2x512xf32>
    }
    %dw = exec.contraction conv2d_filter_grad %y#0, %y#1 by weight_grad_blocks size [1, 1] strides [1, 1] low [0, 0] high [0, 0] : (tensor<?x2x2x512xf32>, tensor<?x2x2x512xf32>) -> tensor<1x1x512x512xf32>
    return %dw : tensor<1x1x512x512xf32>
  }
}
