// Two kernels that are equal but for their names become one; what the second one computes keeps its name for reports.
// RUN: tandem-opt %s -td-outline-kernels | FileCheck %s

func.func private @first(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.tanh %x : tensor<?x4xf32> loc("first/Tanh"("model.cc":1:0))
  return %0 : tensor<?x4xf32>
}
func.func private @second(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.tanh %x : tensor<?x4xf32> loc("second/Tanh"("model.cc":2:0))
  return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: exec.launch @kernel_0(%{{.*}}) : (tensor<?x4xf32>)
  // CHECK-NEXT: exec.launch @kernel_0(%{{.*}}) {exec.names = ["second/Tanh"]} : (tensor<?x4xf32>)
  %0 = exec.launch @first(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = exec.launch @second(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
