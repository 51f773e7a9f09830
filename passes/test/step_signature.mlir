// Text that goes on from a later phase gets what phase `input` makes sure of from a check.
// RUN: not tandem-opt %s --compile-from=distribute --compile-to=memory 2>&1 | FileCheck %s
// CHECK: tandem-opt: this program cannot go on from phase distribute: {{.*}}step_signature.mlir:[[#@LINE+4]]: argument 0 of @step has a batch, 'tensor<?x4xf32>', and only what is marked td.input = "NAME" has one
// RUN: not tandem-opt %s -td-assign-buffers 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: step_signature.mlir:[[#@LINE+2]]:{{.*}} error: argument 0 of @step has a batch
module attributes {exec.config = #exec.config<mode = "predict", devices = ["cpu:0"], batch = 8>} {
  func.func @step(%arg0: tensor<?x4xf32>) -> (tensor<?x4xf32> {td.output = "y"}) {
    %0 = td.relu %arg0 : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}
