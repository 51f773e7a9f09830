// RUN: tandem-opt %s -td-insert-copies -td-assign-buffers -split-input-file | FileCheck %s

func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.neg %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
func.func private @sum(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @sgd(%w: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %w, %g : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// The third temporary reuses the first one's place: the microbatch arena holds two of 8 x 64 bytes. The sum goes into
// the lane's slot, the kept value into the batch arena, the update over its variable.
// CHECK: module attributes
// CHECK-SAME: exec.arenas = #exec.arenas<microbatch = 1024, lane = 64, step = 64, batch = 4096>
// CHECK-SAME: exec.buffers =
// CHECK-DAG: #exec.buffer<name = "{{[^"]*}}", space = batch, bytes = 4096, row_bytes = 64
// CHECK-DAG: #exec.buffer<name = "{{[^"]*}}", space = lane, bytes = 64
// CHECK-LABEL: func.func @step
// CHECK-SAME: exec.buffer = 1 : i64, td.variable = @w
  func.func @step(%x: tensor<?x16xf32> {td.input = "x"}, %w: tensor<16xf32> {td.variable = @w})
      -> (tensor<16xf32> {td.update = @w}, tensor<?x16xf32> {td.output = "y"}) {
    // CHECK: exec.map_microbatches
    %r:2 = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [sum, keep] scope [global, replica] lanes 8 rows 8 microbatch 8
        -> (tensor<16xf32>, tensor<?x16xf32>) {
    ^bb0(%xs: tensor<?x16xf32>):
      %a = exec.launch @neg(%xs) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %b = exec.launch @neg(%a) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %c = exec.launch @neg(%b) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %y = exec.launch @neg(%c) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %s = exec.launch @sum(%y) : (tensor<?x16xf32>) -> tensor<16xf32>
      exec.yield %s, %y : tensor<16xf32>, tensor<?x16xf32>
    }
    // CHECK: exec.launch @sgd({{.*}} {exec.out = array<i64: 1>}
    // CHECK-NOT: exec.copy
    %u = exec.launch @sgd(%w, %r#0) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %u, %r#1 : tensor<16xf32>, tensor<?x16xf32>
  }

// -----

func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.neg %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// Of the values that maps keep, the third takes the first one's place (its only reader is the second map), but the
// second does not: while one microbatch writes it, another may still read the first. An output lives to the end.
// CHECK: module attributes
// CHECK-SAME: exec.arenas = #exec.arenas<batch = 8192>
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = batch, bytes = 4096, row_bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = batch, offset = 4096, bytes = 4096, row_bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = batch, bytes = 4096, row_bytes = 64
// CHECK-SAME: #exec.peak<space = batch, bytes = 8192, live = [#exec.live_buffer<name = "", bytes = 4096>, #exec.live_buffer<name = "", bytes = 4096>]>
func.func @step(%x: tensor<?x16xf32> {td.input = "x"})
    -> (tensor<?x16xf32> {td.output = "y"}, tensor<?x16xf32> {td.output = "z"}) {
  %a = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?x16xf32>) {
  ^bb0(%s: tensor<?x16xf32>):
    %0 = exec.launch @neg(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    exec.yield %0 : tensor<?x16xf32>
  }
  %b = exec.map_microbatches (%a : tensor<?x16xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?x16xf32>) {
  ^bb0(%s: tensor<?x16xf32>):
    %0 = exec.launch @neg(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    exec.yield %0 : tensor<?x16xf32>
  }
  %c = exec.map_microbatches (%b : tensor<?x16xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?x16xf32>) {
  ^bb0(%s: tensor<?x16xf32>):
    %0 = exec.launch @neg(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    exec.yield %0 : tensor<?x16xf32>
  }
  return %b, %c : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// Of what is made of @frozen alone, %a and %c are read only by what is made as rarely: they share a place, which %v, made
// of @w, does not get. %b, %d and %e are outputs and stay.
// CHECK: module attributes
// CHECK-SAME: exec.arenas = #exec.arenas<step = 320>
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = 64, bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = 128, bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = 192, bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = 256, bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = 256, bytes = 64
func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func @step(%f: tensor<16xf32> {td.variable = @frozen}, %w: tensor<16xf32> {td.variable = @w})
    -> (tensor<16xf32> {td.output = "d"}, tensor<16xf32> {td.output = "b"}, tensor<16xf32> {td.output = "e"}, tensor<16xf32> {td.update = @w}) {
  %a = exec.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %b = exec.launch @half(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %c = exec.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %d = exec.launch @half(%c) : (tensor<16xf32>) -> tensor<16xf32>
  %e = exec.launch @half(%d) : (tensor<16xf32>) -> tensor<16xf32>
  %v = exec.launch @half(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %u = exec.launch @half(%v) : (tensor<16xf32>) -> tensor<16xf32>
  return %d, %b, %e, %u : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// What is made of @frozen, which the program does not write, keeps its place; the value made of @w gives it to the next.
// CHECK: module attributes
// CHECK-SAME: exec.arenas = #exec.arenas<step = 192>
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = [[A:[0-9]+]], bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = [[B:[0-9]+]], bytes = 64
// CHECK-SAME: #exec.buffer<name = "{{[^"]*}}", space = step, offset = [[A]], bytes = 64
func.func @step(%f: tensor<16xf32> {td.variable = @frozen}, %w: tensor<16xf32> {td.variable = @w})
    -> (tensor<16xf32> {td.output = "y"}, tensor<16xf32> {td.update = @w}) {
  %a = exec.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %b = exec.launch @half(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %c = exec.launch @half(%b) : (tensor<16xf32>) -> tensor<16xf32>
  %d = exec.launch @half(%c) : (tensor<16xf32>) -> tensor<16xf32>
  %u = exec.launch @half(%d) : (tensor<16xf32>) -> tensor<16xf32>
  return %d, %u : tensor<16xf32>, tensor<16xf32>
}

// -----

func.func private @minus(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.neg %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A call that adds a residual writes over it. What is read afterwards too is copied for it, and so is the result where a
// map yields it.
// CHECK-LABEL: func.func private @minus(
// CHECK: func.func @step
// CHECK: ^bb0(
// CHECK: %[[A:.*]] = exec.launch @minus({{.*}} {exec.out = array<i64: [[P:[0-9]+]]>}
// CHECK-NEXT: %[[B:.*]] = exec.library_call({{.*}}, %[[A]]) #exec.matmul<{{.*}}exec.out = array<i64: [[P]]>}
// CHECK-NEXT: %[[C:.*]] = exec.copy %[[B]] {exec.out = array<i64: [[Q:[0-9]+]]>}
// CHECK-NEXT: %[[D:.*]] = exec.library_call({{.*}}, %[[C]]) #exec.matmul<{{.*}}exec.out = array<i64: [[Q]]>}
// CHECK-NEXT: %[[E:.*]] = exec.launch @minus(%[[B]])
// CHECK-NEXT: %[[F:.*]] = exec.copy %[[D]]
// CHECK-NEXT: exec.yield %[[F]], %[[E]]
func.func @step(%x: tensor<?x4xf32> {td.input = "x"}, %w: tensor<4x4xf32> {td.variable = @w})
    -> (tensor<?x4xf32> {td.output = "y"}, tensor<?x4xf32> {td.output = "z"}) {
  %r:2 = exec.map_microbatches (%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) reduce [keep, keep] scope [replica, replica] lanes 8 rows 8 microbatch 8
      -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  ^bb0(%xs: tensor<?x4xf32>, %ws: tensor<4x4xf32>):
    %a = exec.launch @minus(%xs) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %b = exec.library_call(%xs, %ws, %a) #exec.matmul<epilogue = <residual = true>> by library : (tensor<?x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %d = exec.library_call(%xs, %ws, %b) #exec.matmul<epilogue = <residual = true>> by library : (tensor<?x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %e = exec.launch @minus(%b) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    exec.yield %d, %e : tensor<?x4xf32>, tensor<?x4xf32>
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

func.func private @half(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// %a is read by no command that is not invariant, and the call writes the output %b over it: %c does not get its place.
// CHECK: module attributes
// CHECK-SAME: exec.arenas = #exec.arenas<step = 192>
// CHECK-LABEL: func.func private @half(
// CHECK: func.func @step
// CHECK: exec.launch @half(%arg0) {exec.out = array<i64: [[A:[0-9]+]]>}
// CHECK-NEXT: exec.library_call({{.*}}) #exec.matmul<{{.*}}exec.out = array<i64: [[A]]>}
func.func @step(%f: tensor<4x4xf32> {td.variable = @frozen})
    -> (tensor<4x4xf32> {td.output = "b"}, tensor<4x4xf32> {td.output = "d"}) {
  %a = exec.launch @half(%f) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = exec.library_call(%f, %f, %a) #exec.matmul<epilogue = <residual = true>> by library : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = exec.launch @half(%f) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = exec.launch @half(%c) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b, %d : tensor<4x4xf32>, tensor<4x4xf32>
}
