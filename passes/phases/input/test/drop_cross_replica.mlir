// RUN: tandem-opt %s -td-drop-cross-replica | FileCheck %s

// With one replica there is nothing to combine. What went through it is rounded all the same: no sum of an update takes
// the product into a multiply-add, which would be another number than several replicas and servers are sent.
module attributes {exec.config = #exec.config<mode = "train", devices = ["cpu:0"]>} {
  // CHECK-LABEL: func.func @step
  // CHECK: %[[P:.*]] = td.mul %{{.*}}, %{{.*}} {td.rounded} : tensor<4xf32>
  // CHECK-NOT: td.cross_replica
  // CHECK: return %[[P]]
  func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %p = td.mul %a, %b : tensor<4xf32>
    %s = td.cross_replica sum %p : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
