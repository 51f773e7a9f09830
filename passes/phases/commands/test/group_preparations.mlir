// RUN: tandem-opt %s -td-assign-buffers -td-mark-invariants -td-mark-inline -td-group-preparations -split-input-file | FileCheck %s

// Two packings, each of a weight of its own, in one loop.
// CHECK-LABEL: func.func @step
// CHECK: exec.library_call(%arg0) #exec.pack_weights<{{.*}}exec.execution = #exec.execution<invariant = true, together = 2>
// CHECK-NEXT: exec.library_call(%arg1) #exec.pack_weights<{{.*}}exec.execution = #exec.execution<invariant = true>
func.func @step(%v: tensor<64x64xf32> {td.variable = @v}, %w: tensor<64x64xf32> {td.variable = @w})
    -> (tensor<64x64xf32> {td.output = "p"}, tensor<64x64xf32> {td.output = "q"}) {
  %p = exec.library_call(%v) #exec.pack_weights<> by library : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = exec.library_call(%w) #exec.pack_weights<> by library : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p, %q : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The second one packs what the first one wrote.
// CHECK-LABEL: func.func @step
// CHECK-NOT: together
func.func @step(%v: tensor<64x64xf32> {td.variable = @v}) -> (tensor<64x64xf32> {td.output = "q"}) {
  %p = exec.library_call(%v) #exec.pack_weights<> by library : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = exec.library_call(%p) #exec.pack_weights<> by library : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}

// -----

func.func private @neg(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {exec.kernel = #exec.kernel_kind<once>} {
  %0 = td.neg %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// The first one is computed when a variable has changed, the second one, of a variable that the program writes, in every
// step.
// CHECK-LABEL: func.func @step
// CHECK: exec.library_call(%arg0) #exec.pack_weights<{{.*}}exec.execution = #exec.execution<invariant = true>
// CHECK-NEXT: exec.library_call(%arg1) #exec.pack_weights<
// CHECK-NOT: together
func.func @step(%v: tensor<64x64xf32> {td.variable = @v}, %w: tensor<64x64xf32> {td.variable = @w})
    -> (tensor<64x64xf32> {td.output = "p"}, tensor<64x64xf32> {td.output = "q"}, tensor<64x64xf32> {td.update = @w}) {
  %p = exec.library_call(%v) #exec.pack_weights<> by library : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = exec.library_call(%w) #exec.pack_weights<> by library : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = exec.launch @neg(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p, %q, %u : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

func.func private @neg(%x: tensor<40000xf32>) -> tensor<40000xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<40000xf32>
  return %0 : tensor<40000xf32>
}
func.func private @small(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Elementwise kernels join too, unless there is too little to do.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @neg(%arg0) {exec.execution = #exec.execution<invariant = true, together = 2>
// CHECK-NEXT: exec.launch @neg(%arg1) {exec.execution = #exec.execution<invariant = true>
// CHECK-NEXT: exec.launch @small(%arg2) {exec.execution = #exec.execution<invariant = true, run_inline = true>
func.func @step(%u: tensor<40000xf32> {td.variable = @u}, %v: tensor<40000xf32> {td.variable = @v}, %w: tensor<16xf32> {td.variable = @w})
    -> (tensor<40000xf32> {td.output = "p"}, tensor<40000xf32> {td.output = "q"}, tensor<16xf32> {td.output = "r"}) {
  %p = exec.launch @neg(%u) : (tensor<40000xf32>) -> tensor<40000xf32>
  %q = exec.launch @neg(%v) : (tensor<40000xf32>) -> tensor<40000xf32>
  %r = exec.launch @small(%w) : (tensor<16xf32>) -> tensor<16xf32>
  return %p, %q, %r : tensor<40000xf32>, tensor<40000xf32>, tensor<16xf32>
}
