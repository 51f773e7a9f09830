// RUN: tandem-opt %s -td-mark-invariants | FileCheck %s

// %b, made of an input, lies over %a, which is gone in the next step. %c keeps its place, but would be made of %b there.
// CHECK-LABEL: func.func @step
// CHECK-NOT: invariant
module attributes {
    exec.arenas = #exec.arenas<step = 192>,
    exec.buffers = [
      #exec.buffer<name = "f", space = variable, type = tensor<16xf32>>,
      #exec.buffer<name = "a", space = step, bytes = 64, type = tensor<16xf32>>,
      #exec.buffer<name = "x", space = input, type = tensor<16xf32>>,
      #exec.buffer<name = "b", space = step, bytes = 64, type = tensor<16xf32>>,
      #exec.buffer<name = "c", space = step, offset = 64, bytes = 64, type = tensor<16xf32>>]} {
  func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
    %0 = td.neg %x : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
  func.func @step(%f: tensor<16xf32> {exec.buffer = 0 : i64, td.variable = @frozen},
                  %x: tensor<16xf32> {exec.buffer = 2 : i64, td.input = "x"})
      -> (tensor<16xf32> {td.output = "b"}, tensor<16xf32> {td.output = "c"}) {
    %a = exec.launch @half(%f) {exec.out = array<i64: 1>} : (tensor<16xf32>) -> tensor<16xf32>
    %c = exec.launch @half(%a) {exec.out = array<i64: 4>} : (tensor<16xf32>) -> tensor<16xf32>
    %b = exec.launch @half(%x) {exec.out = array<i64: 3>} : (tensor<16xf32>) -> tensor<16xf32>
    return %b, %c : tensor<16xf32>, tensor<16xf32>
  }
}
