// RUN: tandem-opt %s -td-insert-copies -split-input-file | FileCheck %s

// Outputs survive the step: what lies in a variable, a step scalar or among the constants is copied, a view of it too. A
// batched input stays where it is.
// CHECK-LABEL: func.func @step
// CHECK: %[[C:.*]] = td.constant
// CHECK: %[[V:.*]] = td.reshape %arg0
// CHECK-NEXT: %[[A:.*]] = exec.copy %[[V]]
// CHECK-NEXT: %[[B:.*]] = exec.copy %arg1
// CHECK-NEXT: %[[D:.*]] = exec.copy %[[C]]
// CHECK-NEXT: return %[[A]], %[[B]], %[[D]], %arg2
func.func @step(%v: tensor<4xf32> {td.variable = @v}, %r: tensor<f32> {td.scalar = "rate"}, %x: tensor<?x4xf32> {td.input = "x"})
    -> (tensor<2x2xf32> {td.output = "a"}, tensor<f32> {td.output = "b"}, tensor<4xf32> {td.output = "c"}, tensor<?x4xf32> {td.output = "x"}) {
  %c = td.constant dense<1.0> : tensor<4xf32>
  %s = td.reshape %v : tensor<4xf32> -> tensor<2x2xf32>
  return %s, %r, %c, %x : tensor<2x2xf32>, tensor<f32>, tensor<4xf32>, tensor<?x4xf32>
}

// -----

// Variables that change places: both old values are copied before either variable is written.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: %[[W:.*]] = exec.copy %arg1
// CHECK-NEXT: %[[V:.*]] = exec.copy %arg0
// CHECK-NEXT: %[[A:.*]] = exec.copy %[[W]]
// CHECK-NEXT: %[[B:.*]] = exec.copy %[[V]]
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @step(%v: tensor<4xf32> {td.variable = @v}, %w: tensor<4xf32> {td.variable = @w})
    -> (tensor<4xf32> {td.update = @v}, tensor<4xf32> {td.update = @w}) {
  return %w, %v : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @flat(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @split(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A flat kernel may write over the variable that it reads, another may not. Nor may the update be written that another
// command reads the old value behind, that stands in front of the check, or that is an output too.
// CHECK-LABEL: func.func @step
// CHECK: %[[D:.*]] = exec.launch @flat(%arg3)
// CHECK-NEXT: exec.check_finite
// CHECK-NEXT: %[[A:.*]] = exec.launch @flat(%arg0)
// CHECK-NEXT: %[[B:.*]] = exec.launch @split(%arg1)
// CHECK-NEXT: %[[C:.*]] = exec.launch @flat(%arg2)
// CHECK-NEXT: %[[O:.*]] = exec.launch @flat(%arg2)
// CHECK-NEXT: %[[E:.*]] = exec.launch @flat(%arg4)
// CHECK-NEXT: %[[B2:.*]] = exec.copy %[[B]]
// CHECK-NEXT: %[[C2:.*]] = exec.copy %[[C]]
// CHECK-NEXT: %[[D2:.*]] = exec.copy %[[D]]
// CHECK-NEXT: %[[E2:.*]] = exec.copy %[[E]]
// CHECK-NEXT: return %[[A]], %[[B2]], %[[C2]], %[[D2]], %[[E2]], %[[O]], %[[E]]
func.func @step(%a: tensor<4xf32> {td.variable = @a}, %b: tensor<4xf32> {td.variable = @b}, %c: tensor<4xf32> {td.variable = @c},
                %d: tensor<4xf32> {td.variable = @d}, %e: tensor<4xf32> {td.variable = @e})
    -> (tensor<4xf32> {td.update = @a}, tensor<4xf32> {td.update = @b}, tensor<4xf32> {td.update = @c},
        tensor<4xf32> {td.update = @d}, tensor<4xf32> {td.update = @e}, tensor<4xf32> {td.output = "o"}, tensor<4xf32> {td.output = "e"}) {
  %d1 = exec.launch @flat(%d) : (tensor<4xf32>) -> tensor<4xf32>
  exec.check_finite %d1 : tensor<4xf32>
  %a1 = exec.launch @flat(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %b1 = exec.launch @split(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %c1 = exec.launch @flat(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %o = exec.launch @flat(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %e1 = exec.launch @flat(%e) : (tensor<4xf32>) -> tensor<4xf32>
  return %a1, %b1, %c1, %d1, %e1, %o, %e1
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @mix_both(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.add %v, %w : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The members of a group run in any order: where one reads what another one would write over, they are written apart.
// CHECK-LABEL: func.func @step
// CHECK: %[[U:.*]]:2 = exec.grouped_launch @mix_both x 2
// CHECK-DAG: exec.copy %[[U]]#0
// CHECK-DAG: exec.copy %[[U]]#1
func.func @step(%a: tensor<4xf32> {td.variable = @a}, %b: tensor<4xf32> {td.variable = @b})
    -> (tensor<4xf32> {td.update = @a}, tensor<4xf32> {td.update = @b}) {
  %0:2 = exec.grouped_launch @mix_both x 2(%a, %b, %b, %a)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @mix_own(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.add %v, %w : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Each reads its own variable alone, element by element as it writes.
// CHECK-LABEL: func.func @step
// CHECK: exec.grouped_launch @mix_own x 2
// CHECK-NOT: exec.copy
func.func @step(%a: tensor<4xf32> {td.variable = @a}, %b: tensor<4xf32> {td.variable = @b})
    -> (tensor<4xf32> {td.update = @a}, tensor<4xf32> {td.update = @b}) {
  %0:2 = exec.grouped_launch @mix_own x 2(%a, %a, %b, %b)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @neg(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An all-reduce writes over its operands. A variable is copied for it, and what a command reads behind it.
// CHECK-LABEL: func.func @step
// CHECK: %[[G:.*]] = exec.launch @neg(%arg0)
// CHECK-NEXT: %[[H:.*]] = exec.launch @neg(%arg0)
// CHECK-NEXT: %[[V:.*]] = exec.copy %arg0
// CHECK-NEXT: %[[H2:.*]] = exec.copy %[[H]]
// CHECK-NEXT: %[[S:.*]]:3 = exec.all_reduce sum %[[G]], %[[V]], %[[H2]]
// CHECK-NEXT: %[[T:.*]] = exec.all_reduce sum %[[S]]#0
// CHECK-NEXT: %[[Y:.*]] = exec.launch @neg(%[[H]])
// CHECK-NEXT: return %[[T]], %[[S]]#1, %[[S]]#2, %[[Y]]
func.func @step(%v: tensor<4xf32> {td.variable = @v})
    -> (tensor<4xf32> {td.output = "g"}, tensor<4xf32> {td.output = "v"}, tensor<4xf32> {td.output = "h"}, tensor<4xf32> {td.output = "y"}) {
  %g = exec.launch @neg(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %h = exec.launch @neg(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %s:3 = exec.all_reduce sum %g, %v, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %t = exec.all_reduce sum %s#0 : tensor<4xf32> -> tensor<4xf32>
  %y = exec.launch @neg(%h) : (tensor<4xf32>) -> tensor<4xf32>
  return %t, %s#1, %s#2, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @sum(%x: tensor<?x4xf32>) -> tensor<4xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A map yields a value once, and no argument of its body.
// CHECK-LABEL: func.func @step
// CHECK: ^bb0(%[[X:.*]]: tensor<?x4xf32>):
// CHECK-NEXT: %[[S:.*]] = exec.launch @sum(%[[X]])
// CHECK-NEXT: %[[T:.*]] = exec.copy %[[S]]
// CHECK-NEXT: %[[Y:.*]] = exec.copy %[[X]]
// CHECK-NEXT: exec.yield %[[S]], %[[T]], %[[Y]]
func.func @step(%x: tensor<?x4xf32> {td.input = "x"})
    -> (tensor<4xf32> {td.output = "s"}, tensor<4xf32> {td.output = "t"}, tensor<?x4xf32> {td.output = "y"}) {
  %r:3 = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum, sum, keep] scope [global, global, replica]
      lanes 8 rows 8 microbatch 8 -> (tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    %s = exec.launch @sum(%xs) : (tensor<?x4xf32>) -> tensor<4xf32>
    exec.yield %s, %s, %xs : tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32>
}
