// Resuming from the text of any phase gives what one run gives. The locations are needed: buffers are named by them.
// RUN: tandem-opt %s --compile-to=commands -mlir-print-debuginfo -o %t.whole
// RUN: tandem-opt %s --compile-to=input -mlir-print-debuginfo | tandem-opt --compile-from=precision --compile-to=distribute -mlir-print-debuginfo -o %t.distribute
// RUN: tandem-opt %t.distribute --compile-from=layout --compile-to=layout -mlir-print-debuginfo | tandem-opt --compile-from=fusion --compile-to=fusion -mlir-print-debuginfo -o %t.fusion
// RUN: tandem-opt %t.fusion --compile-from=schedule --compile-to=schedule -mlir-print-debuginfo | tandem-opt --compile-from=memory -mlir-print-debuginfo -o %t.resumed
// RUN: diff %t.whole %t.resumed

// The IR around a pass goes to stderr, in the order in which it is reached; it can be parsed.
// RUN: tandem-opt %s --print-ir-before=td-lift-variables --print-ir-after=td-lift-variables --print-ir-after=td-form-microbatch-map -o %t.out 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: // IR before td-lift-variables
// PRINT: td.assign @w
// PRINT: // IR after td-lift-variables
// PRINT-NOT: td.assign
// PRINT: td.relu {{.*}} loc("layer/Relu"("model.cc":7:0))
// PRINT: // IR after td-form-microbatch-map
// PRINT: exec.map_microbatches
// RUN: tandem-opt %s --compile-to=input --print-ir-after=td-lift-variables -o %t.out 2> %t.printed
// RUN: tandem-opt %t.printed -cse | FileCheck %s --check-prefix=PARSED
// PARSED: func.func @step

// A pass can be left out, several as well.
// RUN: tandem-opt %s --compile-to=distribute --disable-pass=td-insert-finite-check | FileCheck %s --check-prefix=UNCHECKED
// UNCHECKED: exec.all_reduce
// UNCHECKED-NOT: exec.check_finite
// RUN: tandem-opt %s --compile-to=distribute --disable-pass=td-insert-finite-check --disable-pass=td-bucket-all-reduce | FileCheck %s --check-prefix=BARE
// BARE: exec.all_reduce
// BARE-NOT: bucket
// BARE-NOT: exec.check_finite

// What a later pass needs is missed at the end of the phase.
// RUN: not tandem-opt %s --disable-pass=td-lift-variables 2>&1 | FileCheck %s --check-prefix=MISSED
// MISSED: tandem-opt: compilation failed in phase input, pass td-verify-input: {{.*}}has no function @step
// RUN: not tandem-opt %s --disable-pass=td-insert-all-reduce 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: tandem-opt: compilation failed in phase distribute, pass td-verify-distribute: {{.*}}reads one replica's part of a sum over all replicas

// Mistakes name what there is.
// RUN: not tandem-opt %s --compile-to=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not tandem-opt %s --compile-from=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: unknown phase "nowhere"; phases are: input, precision, distribute, layout, fusion, schedule, memory
// RUN: not tandem-opt %s --disable-pass=td-nothing 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not tandem-opt %s --print-ir-before=td-nothing 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not tandem-opt %s --print-ir-after=td-nothing 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: unknown pass "td-nothing"; passes are: canonicalize, cse, {{.*}}td-form-fusions, {{.*}}td-schedule
// RUN: not tandem-opt %s --compile-from=fusion --compile-to=input 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: phase input comes before fusion
// RUN: not tandem-opt %s --compile-to=input -cse 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: give single passes or options of the phases
// RUN: not tandem-opt %t.none --compile-to=input 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: cannot open: No such file or directory

module attributes {exec.config = #exec.config<mode = "train", devices = ["cpu:0", "cpu:1"], batch = 8>} {
  td.variable @w : tensor<4xf32> {initializer = [1.0, 0.5, 0.0], trainable}
  func.func @main() {
    %x = td.input "x" : tensor<?x4xf32>
    %w = td.read @w : tensor<4xf32>
    %lr = td.scalar "learning_rate" : tensor<f32>
    %r = td.relu %x : tensor<?x4xf32> loc("layer/Relu"("model.cc":7:0))
    %g = td.reduce sum, %r axes [0] : tensor<?x4xf32> -> tensor<4xf32>
    %v = td.apply_sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    td.assign @w, %v : tensor<4xf32>
    td.output "r", %r : tensor<?x4xf32>
    return
  }
}
