// RUN: tandem-opt %s -td-form-fusions -split-input-file | FileCheck %s

// The notes stand in front of the module's text, in the order of the producers.
// CHECK: exec.fusion_decisions = [
// Bias and relu are one kernel.
// CHECK-SAME: #exec.fusion_decision<producer_op = "td.add", producer = "Add", consumer_op = "td.relu", consumer = "Relu", why = "">
// A product of matrices is not generated.
// CHECK-SAME: #exec.fusion_decision<producer_op = "td.relu", producer = "Relu", consumer_op = "td.matmul", consumer = "MatMul", why = "td.matmul is no op of a generated kernel">
// A sum over the batch is known too late.
// CHECK-SAME: consumer_op = "td.sub", consumer = "Center", {{.*}}why = "it reads a sum over the batch, which is known when all rows are done">
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = td.add %x, %x : tensor<?x8xf32> loc("Add")
  %r = td.relu %a : tensor<?x8xf32> loc("Relu")
  %z = td.matmul %r, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32> loc("MatMul")
  %s = td.reduce sum, %z axes [0] : tensor<?x8xf32> -> tensor<8xf32> loc("Sum")
  %b = td.broadcast %s dims [1] : tensor<8xf32> -> tensor<?x8xf32> loc("Spread")
  %c = td.sub %z, %b : tensor<?x8xf32> loc("Center")
  return %z, %c : tensor<?x8xf32>, tensor<?x8xf32>
}
