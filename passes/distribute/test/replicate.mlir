// RUN: tandem-opt %s -td-replicate | FileCheck %s

// One body, one symbol per device, in the order of the devices.
// CHECK: td.replica @replica_0 device("cpu:0") body(@step)
// CHECK: td.replica @replica_1 device("cpu:1") body(@step)
// CHECK-NOT: td.replica
// CHECK: func.func @step
// CHECK-NOT: func.func
module attributes {td.devices = ["cpu:0", "cpu:1"]} {
  func.func @step() {
    return
  }
}
