// Passes and phases by name, as MLIR's driver runs them; its options work with them.
// RUN: tandem-opt %s --pass-pipeline='builtin.module(td-lift-variables,td-decompose,canonicalize)' | FileCheck %s --check-prefix=PASSES
// PASSES: func.func @step
// PASSES-NOT: td.softmax
// PASSES-NOT: exec.map_microbatches

// All phases, one after the other, are what a program is compiled by.
// RUN: tandem-opt %s --pass-pipeline='builtin.module(td-phase-input,td-phase-precision,td-phase-distribute)' -o %t.phases
// RUN: tandem-opt %s --compile-to=distribute -o %t.compiled
// RUN: tandem-opt %t.compiled -o %t.printed
// RUN: diff %t.phases %t.printed
// RUN: tandem-opt %t.compiled --td-phase-layout --td-phase-fusion --td-phase-schedule --td-phase-memory | FileCheck %s --check-prefix=MEMORY
// MEMORY: exec.arenas

// RUN: tandem-opt %s --td-phase-input --mlir-print-ir-after=td-lift-variables -o %t.out 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: IR Dump After LiftVariablesPass (td-lift-variables)

// Mistakes.
// RUN: not tandem-opt %s --pass-pipeline='builtin.module(td-nothing)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'td-nothing' does not refer to a registered pass or pass pipeline
// RUN: not tandem-opt %s --pass-pipeline='builtin.module(td-phase-input{fast=1})' 2>&1 | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: a phase has no options

module attributes {exec.config = #exec.config<mode = "predict", devices = ["cpu:0"], batch = 8>} {
  func.func @main() {
    %x = td.input "x" : tensor<?x4xf32>
    %s = td.softmax %x : tensor<?x4xf32>
    td.output "s", %s : tensor<?x4xf32>
    return
  }
}
