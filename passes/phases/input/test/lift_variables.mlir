// RUN: tandem-opt %s -td-lift-variables | FileCheck %s

td.variable @w : tensor<4xf32> {trainable}
td.variable @unread : tensor<4xf32>

// Inputs come first, then scalars, then variables; an unused read leaves no argument.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32> {td.input = "x"},
// CHECK-SAME: %[[LR:.*]]: tensor<f32> {td.scalar = "learning_rate"},
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {td.variable = @w})
// CHECK-SAME: -> (tensor<4xf32> {td.update = @w}, tensor<4xf32> {td.check_finite}, tensor<?x4xf32> {td.output = "y"})
func.func @main() {
  %w = td.read @w : tensor<4xf32>
  %u = td.read @unread : tensor<4xf32>
  %lr = td.scalar "learning_rate" : tensor<f32>
  %x = td.input "x" : tensor<?x4xf32>
  // CHECK-NOT: td.read
  // CHECK: %[[V:.*]] = td.neg %[[W]]
  %v = td.neg %w : tensor<4xf32>
  %again = td.read @w : tensor<4xf32>
  %l = td.broadcast %lr dims [] : tensor<f32> -> tensor<4xf32>
  // CHECK: %[[S:.*]] = td.mul %[[V]]
  %s = td.mul %v, %l : tensor<4xf32>
  // CHECK: %[[A:.*]] = td.add %[[S]], %[[W]]
  %a = td.add %s, %again : tensor<4xf32>
  %y = td.relu %x : tensor<?x4xf32>
  td.assign @w, %a : tensor<4xf32>
  td.check_finite %s : tensor<4xf32>
  td.output "y", %y : tensor<?x4xf32>
  // CHECK: return %[[A]], %[[S]], %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32>
  return
}
