// The module before the pass that fails goes to a file, which tandem-opt runs to the same error.
// RUN: not tandem-opt %s --crash-reproducer=%t.mlir 2>&1 | FileCheck %s --check-prefix=ERROR -DFILE=%t.mlir
// ERROR: tandem-opt: compilation failed in phase memory, pass td-check-memory: {{.*}}memory_limit allows{{.*}}; Pipeline failed while executing `CheckMemoryPass` on 'builtin.module' operation: reproducer generated at `[[FILE]]`
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=FILE
// FILE: exec.arenas
// FILE: exec.launch
// FILE: pipeline: "builtin.module(td-check-memory)"
// RUN: not tandem-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: memory_limit allows

// Without a failure there is none.
// RUN: tandem-opt %s --compile-to=schedule --crash-reproducer=%t.none -o %t.out
// RUN: not ls %t.none

module attributes {exec.config = #exec.config<mode = "predict", devices = ["cpu:0"], batch = 8, memory_limit = 1>} {
  func.func @main() {
    %x = td.input "x" : tensor<?x4xf32>
    %y = td.relu %x : tensor<?x4xf32>
    td.output "y", %y : tensor<?x4xf32>
    return
  }
}
