// RUN: tandem-opt %s -td-replicate | FileCheck %s

// One body, one symbol per device, in the order of the devices.
// CHECK: exec.replica @replica_0 device("cpu:0") body(@step)
// CHECK: exec.replica @replica_1 device("cpu:1") body(@step)
// CHECK-NOT: td.replica
// CHECK: func.func @step
// CHECK-NOT: func.func
module attributes {exec.config = #exec.config<devices = ["cpu:0", "cpu:1"]>} {
  func.func @step() {
    return
  }
}
