// RUN: tandem-opt %s -td-assign-buffers -split-input-file | FileCheck %s

func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {td.kernel = "loop"} {
  %0 = td.neg %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
func.func private @sum(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {td.kernel = "col"} {
  %0 = td.reduce "sum", %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @sgd(%w: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<16xf32> attributes {td.kernel = "flat"} {
  %0 = td.sub %w, %g : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// The third temporary reuses the first one's place: the shard arena holds two of 8 x 64 bytes. The sum goes into the
// lane's slot, the kept value into the batch arena, the update over its variable.
// CHECK: module attributes
// CHECK-SAME: td.arenas = {batch = 4096 : i64, constant = 0 : i64, lane = 64 : i64, shard = 1024 : i64, step = 64 : i64}
// CHECK-SAME: td.buffers =
// CHECK-DAG: {bytes = 4096 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 0 : i64, row_bytes = 64 : i64, space = "batch"
// CHECK-DAG: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 0 : i64, row_bytes = 0 : i64, space = "lane"
// CHECK-LABEL: func.func @step
// CHECK-SAME: td.buffer = 1 : i64, td.variable = @w
  func.func @step(%x: tensor<?x16xf32> {td.input = "x"}, %w: tensor<16xf32> {td.variable = @w})
      -> (tensor<16xf32> {td.update = @w}, tensor<?x16xf32> {td.output = "y"}) {
    // CHECK: td.map_shards
    %r:2 = td.map_shards (%x : tensor<?x16xf32>) reduce ["sum", "keep"] scope ["global", "replica"] lanes 8 rows 8 shard 8
        -> (tensor<16xf32>, tensor<?x16xf32>) {
    ^bb0(%xs: tensor<?x16xf32>):
      %a = td.launch @neg(%xs) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %b = td.launch @neg(%a) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %c = td.launch @neg(%b) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %y = td.launch @neg(%c) : (tensor<?x16xf32>) -> tensor<?x16xf32>
      %s = td.launch @sum(%y) : (tensor<?x16xf32>) -> tensor<16xf32>
      td.yield %s, %y : tensor<16xf32>, tensor<?x16xf32>
    }
    // CHECK: td.launch @sgd({{.*}} {td.out = array<i64: 1>}
    // CHECK-NOT: td.copy
    %u = td.launch @sgd(%w, %r#0) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    return %u, %r#1 : tensor<16xf32>, tensor<?x16xf32>
  }

// -----

func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {td.kernel = "loop"} {
  %0 = td.neg %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// Of the values that maps keep, the third takes the first one's place (its only reader is the second map), but the
// second does not: while one shard writes it, another may still read the first. An output lives to the end.
// CHECK: module attributes
// CHECK-SAME: td.arenas = {batch = 8192 : i64
// CHECK-SAME: {bytes = 4096 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[A:[0-9]+]] : i64, row_bytes = 64 : i64, space = "batch"
// CHECK-SAME: {bytes = 4096 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[B:[0-9]+]] : i64, row_bytes = 64 : i64, space = "batch"
// CHECK-SAME: {bytes = 4096 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[A]] : i64, row_bytes = 64 : i64, space = "batch"
// CHECK-SAME: live = [{bytes = 4096 : i64, name = ""}, {bytes = 4096 : i64, name = ""}], space = "batch"
func.func @step(%x: tensor<?x16xf32> {td.input = "x"})
    -> (tensor<?x16xf32> {td.output = "y"}, tensor<?x16xf32> {td.output = "z"}) {
  %a = td.map_shards (%x : tensor<?x16xf32>) reduce ["keep"] scope ["replica"] lanes 8 rows 8 shard 8 -> (tensor<?x16xf32>) {
  ^bb0(%s: tensor<?x16xf32>):
    %0 = td.launch @neg(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    td.yield %0 : tensor<?x16xf32>
  }
  %b = td.map_shards (%a : tensor<?x16xf32>) reduce ["keep"] scope ["replica"] lanes 8 rows 8 shard 8 -> (tensor<?x16xf32>) {
  ^bb0(%s: tensor<?x16xf32>):
    %0 = td.launch @neg(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    td.yield %0 : tensor<?x16xf32>
  }
  %c = td.map_shards (%b : tensor<?x16xf32>) reduce ["keep"] scope ["replica"] lanes 8 rows 8 shard 8 -> (tensor<?x16xf32>) {
  ^bb0(%s: tensor<?x16xf32>):
    %0 = td.launch @neg(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    td.yield %0 : tensor<?x16xf32>
  }
  return %b, %c : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// Of what is made of @frozen alone, %a and %c are read only by what is made as rarely: they share a place, which %v, made
// of @w, does not get. %b, %d and %e are outputs and stay.
// CHECK: module attributes
// CHECK-SAME: step = 320 : i64
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 0 : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 64 : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 128 : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 192 : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 256 : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = 256 : i64, row_bytes = 0 : i64, space = "step"
func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {td.kernel = "split"} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func @step(%f: tensor<16xf32> {td.variable = @frozen}, %w: tensor<16xf32> {td.variable = @w})
    -> (tensor<16xf32> {td.output = "d"}, tensor<16xf32> {td.output = "b"}, tensor<16xf32> {td.output = "e"}, tensor<16xf32> {td.update = @w}) {
  %a = td.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %b = td.launch @half(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %c = td.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %d = td.launch @half(%c) : (tensor<16xf32>) -> tensor<16xf32>
  %e = td.launch @half(%d) : (tensor<16xf32>) -> tensor<16xf32>
  %v = td.launch @half(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %u = td.launch @half(%v) : (tensor<16xf32>) -> tensor<16xf32>
  return %d, %b, %e, %u : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {td.kernel = "split"} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// What is made of @frozen, which the program does not write, keeps its place; the value made of @w gives it to the next.
// CHECK: module attributes
// CHECK-SAME: step = 192 : i64
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[F:[0-9]+]] : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[A:[0-9]+]] : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[B:[0-9]+]] : i64, row_bytes = 0 : i64, space = "step"
// CHECK-SAME: {bytes = 64 : i64, index = 0 : i64, name = "{{[^"]*}}", offset = [[A]] : i64, row_bytes = 0 : i64, space = "step"
func.func @step(%f: tensor<16xf32> {td.variable = @frozen}, %w: tensor<16xf32> {td.variable = @w})
    -> (tensor<16xf32> {td.output = "y"}, tensor<16xf32> {td.update = @w}) {
  %a = td.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %b = td.launch @half(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %c = td.launch @half(%b) : (tensor<16xf32>) -> tensor<16xf32>
  %d = td.launch @half(%c) : (tensor<16xf32>) -> tensor<16xf32>
  %u = td.launch @half(%d) : (tensor<16xf32>) -> tensor<16xf32>
  return %d, %u : tensor<16xf32>, tensor<16xf32>
}

// -----

func.func private @minus(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {td.kernel = "loop"} {
  %0 = td.neg %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A call that adds a residual writes over it. What is read afterwards too is copied for it, and so is the result where a
// map yields it.
// CHECK-LABEL: func.func private @minus(
// CHECK: func.func @step
// CHECK: ^bb0(
// CHECK: %[[A:.*]] = td.launch @minus({{.*}} {td.out = array<i64: [[P:[0-9]+]]>}
// CHECK-NEXT: %[[B:.*]] = td.library_call "matmul"({{.*}}, %[[A]]) {{.*}}td.out = array<i64: [[P]]>}
// CHECK-NEXT: %[[C:.*]] = td.copy %[[B]] {td.out = array<i64: [[Q:[0-9]+]]>}
// CHECK-NEXT: %[[D:.*]] = td.library_call "matmul"({{.*}}, %[[C]]) {{.*}}td.out = array<i64: [[Q]]>}
// CHECK-NEXT: %[[E:.*]] = td.launch @minus(%[[B]])
// CHECK-NEXT: %[[F:.*]] = td.copy %[[D]]
// CHECK-NEXT: td.yield %[[F]], %[[E]]
func.func @step(%x: tensor<?x4xf32> {td.input = "x"}, %w: tensor<4x4xf32> {td.variable = @w})
    -> (tensor<?x4xf32> {td.output = "y"}, tensor<?x4xf32> {td.output = "z"}) {
  %r:2 = td.map_shards (%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) reduce ["keep", "keep"] scope ["replica", "replica"] lanes 8 rows 8 shard 8
      -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  ^bb0(%xs: tensor<?x4xf32>, %ws: tensor<4x4xf32>):
    %a = td.launch @minus(%xs) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %b = td.library_call "matmul"(%xs, %ws, %a) {config = {adds}} : (tensor<?x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %d = td.library_call "matmul"(%xs, %ws, %b) {config = {adds}} : (tensor<?x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %e = td.launch @minus(%b) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    td.yield %d, %e : tensor<?x4xf32>, tensor<?x4xf32>
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<?x4xf32>
}
