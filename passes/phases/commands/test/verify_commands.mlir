// RUN: tandem-opt %s -td-assign-buffers -td-verify-commands -split-input-file -verify-diagnostics

// What must hold at the end of phase `commands` beside what phase `memory` left.

td.variable @v : tensor<64x64xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%v: tensor<64x64xf32> {td.variable = @v}) -> (tensor<64x64xf32> {td.output = "p"}) {
  // expected-error @+1 {{runs together with 2 commands behind it, and there are 0}}
  %p = exec.library_call(%v) #exec.pack_weights<> by library {exec.execution = #exec.execution<together = 3>}
      : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// -----

func.func private @gradient(%x: tensor<64x32xf32>, %dy: tensor<64x16xf32>) -> tensor<32x16xf32>
    attributes {exec.kernel = #exec.kernel_kind<block>} {
  %0 = td.matmul %x, %dy {transpose_a = true} : tensor<64x32xf32>, tensor<64x16xf32> -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
func.func private @sgd(%w: tensor<32x16xf32>, %g: tensor<32x16xf32>) -> tensor<32x16xf32>
    attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %w, %g : tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
td.variable @x : tensor<64x32xf32> {initializer = [0.0, 0.0, 0.0]}
td.variable @dy : tensor<64x16xf32> {initializer = [0.0, 0.0, 0.0]}
td.variable @w : tensor<32x16xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%x: tensor<64x32xf32> {td.variable = @x}, %dy: tensor<64x16xf32> {td.variable = @dy},
                %w: tensor<32x16xf32> {td.variable = @w}) -> (tensor<32x16xf32> {td.update = @w}) {
  // expected-error @+1 {{has no check and update as its #exec.block_update<check = 0, member = 0, argument = 0, fetched = [0]> says}}
  %g = exec.launch @gradient(%x, %dy)
      {exec.block_update = #exec.block_update<check = 0, member = 0, argument = 0, fetched = [0]>}
      : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  exec.check_finite %g : tensor<32x16xf32>
  %u = exec.grouped_launch @sgd x 1(%w, %g) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %u : tensor<32x16xf32>
}

// -----

func.func private @sum(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func @step(%x: tensor<?x16xf32> {td.input = "x"}) -> (tensor<16xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [sum] scope [global] lanes 8 rows 8 microbatch 8 -> (tensor<16xf32>) {
  ^bb0(%xs: tensor<?x16xf32>):
    %s = exec.launch @sum(%xs) : (tensor<?x16xf32>) -> tensor<16xf32>
    exec.yield %s : tensor<16xf32>
  }
  // expected-error @+1 {{reads the slots of lanes}}
  %y = exec.launch @neg(%r) : (tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
td.variable @v : tensor<16xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%v: tensor<16xf32> {td.variable = @v}) -> (tensor<16xf32> {td.output = "y"}) {
  // expected-error @+1 {{overlaps with commands, and is no exec.all_reduce}}
  %y = exec.launch @neg(%v) {exec.execution = #exec.execution<overlap = 1>} : (tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
td.variable @v : tensor<16xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%v: tensor<16xf32> {td.variable = @v}) -> (tensor<16xf32> {td.output = "y"}) {
  %y = exec.launch @neg(%v) : (tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{overlaps with 2 commands behind it, and there are 0}}
  %s = exec.all_reduce sum %y {bucket = 0 : i64, seq = 0 : i64, exec.execution = #exec.execution<overlap = 2>} : tensor<16xf32> -> tensor<16xf32>
  return %s : tensor<16xf32>
}

// -----

func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
td.variable @v : tensor<16xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%v: tensor<16xf32> {td.variable = @v}) -> (tensor<16xf32> {td.output = "y"}) {
  %y = exec.launch @neg(%v) : (tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+1 {{overlaps with exec.check_finite}}
  %s = exec.all_reduce sum %y {bucket = 0 : i64, seq = 0 : i64, exec.execution = #exec.execution<overlap = 1>} : tensor<16xf32> -> tensor<16xf32>
  exec.check_finite %s : tensor<16xf32>
  return %s : tensor<16xf32>
}

// -----

func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
td.variable @v : tensor<16xf32> {initializer = [0.0, 0.0, 0.0]}
func.func @step(%v: tensor<16xf32> {td.variable = @v}) -> (tensor<16xf32> {td.output = "z"}) {
  %y = exec.launch @neg(%v) : (tensor<16xf32>) -> tensor<16xf32>
  %s = exec.all_reduce sum %y {bucket = 0 : i64, seq = 0 : i64, exec.execution = #exec.execution<overlap = 1>} : tensor<16xf32> -> tensor<16xf32>
  // expected-error @+1 {{touches what an all-reduce under way combines}}
  %z = exec.launch @neg(%s) : (tensor<16xf32>) -> tensor<16xf32>
  return %z : tensor<16xf32>
}
