// RUN: tandem-opt %s -td-group-updates -split-input-file | FileCheck %s

func.func private @sgd(%w: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %w, %g : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Updates by one kernel are one command; a launch that another op reads stays alone.
// CHECK-LABEL: func.func @step
func.func @step(%w0: tensor<4xf32>, %g0: tensor<4xf32>, %w1: tensor<2x3xf32>, %g1: tensor<2x3xf32>)
    -> (tensor<4xf32>, tensor<2x3xf32>) {
  // CHECK: %[[N:.*]] = exec.launch @sgd(%arg1, %arg1)
  // CHECK: %[[U:.*]]:2 = exec.grouped_launch @sgd x 2(%arg0, %[[N]], %arg2, %arg3)
  // CHECK: return %[[U]]#0, %[[U]]#1
  %n = exec.launch @sgd(%g0, %g0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = exec.launch @sgd(%w0, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = exec.launch @sgd(%w1, %g1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %b : tensor<4xf32>, tensor<2x3xf32>
}

// -----

// What is computed from variables alone is one launch where launches are costly, at the first one's place.
// CHECK-LABEL: func.func @step
// CHECK: %[[C:.*]]:2 = exec.grouped_launch @cast x 2(%arg0, %arg1)
// CHECK-NEXT: exec.copy %[[C]]#0
// CHECK-NEXT: %[[S:.*]] = exec.copy %arg0
// CHECK-NEXT: exec.copy %[[C]]#1
// CHECK-NEXT: exec.launch @cast(%[[S]])
module attributes {exec.config = #exec.config<target = <backend = cuda>>} {
func.func private @cast(%w: tensor<?xf32>) -> tensor<?xbf16> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.cast %w : tensor<?xf32> -> tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

func.func @step(%v: tensor<4xf32>, %w: tensor<2x3xf32>) -> (tensor<4xbf16>, tensor<2x3xbf16>, tensor<4xbf16>) {
  %a = exec.launch @cast(%v) : (tensor<4xf32>) -> tensor<4xbf16>
  %x = exec.copy %a : tensor<4xbf16>
  %s = exec.copy %v : tensor<4xf32>
  %b = exec.launch @cast(%w) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %y = exec.copy %b : tensor<2x3xbf16>
  %c = exec.launch @cast(%s) : (tensor<4xf32>) -> tensor<4xbf16>
  %z = exec.copy %c : tensor<4xbf16>
  return %x, %y, %z : tensor<4xbf16>, tensor<2x3xbf16>, tensor<4xbf16>
}
}

// -----

// Elsewhere it is not: threads take such launches side by side.
// CHECK-LABEL: func.func @step
// CHECK-NOT: exec.grouped_launch
// CHECK: return
module attributes {exec.config = #exec.config<>} {
func.func private @cast(%w: tensor<?xf32>) -> tensor<?xbf16> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.cast %w : tensor<?xf32> -> tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

func.func @step(%v: tensor<4xf32>, %w: tensor<2x3xf32>) -> (tensor<4xbf16>, tensor<2x3xbf16>, tensor<4xbf16>) {
  %a = exec.launch @cast(%v) : (tensor<4xf32>) -> tensor<4xbf16>
  %x = exec.copy %a : tensor<4xbf16>
  %s = exec.copy %v : tensor<4xf32>
  %b = exec.launch @cast(%w) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %y = exec.copy %b : tensor<2x3xbf16>
  %c = exec.launch @cast(%s) : (tensor<4xf32>) -> tensor<4xbf16>
  %z = exec.copy %c : tensor<4xbf16>
  return %x, %y, %z : tensor<4xbf16>, tensor<2x3xbf16>, tensor<4xbf16>
}
}

// -----

// Members run in any order: an update that reads what another one writes, through a view as well, stays alone, and so
// does that one.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @mix(%arg0, %arg1)
// CHECK: exec.launch @mix(%arg1, %{{.*}})
// CHECK: exec.grouped_launch @mix x 2(%arg2, %arg2, %arg3, %arg3)
func.func private @mix(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.add %v, %w : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @step(%a: tensor<2x2xf32> {td.variable = @a}, %b: tensor<4xf32> {td.variable = @b},
                %c: tensor<4xf32> {td.variable = @c}, %d: tensor<4xf32> {td.variable = @d})
    -> (tensor<2x2xf32> {td.update = @a}, tensor<4xf32> {td.update = @b}, tensor<4xf32> {td.update = @c},
        tensor<4xf32> {td.update = @d}) {
  %0 = exec.launch @mix(%a, %b) : (tensor<2x2xf32>, tensor<4xf32>) -> tensor<2x2xf32>
  %view = td.reshape %a : tensor<2x2xf32> -> tensor<4xf32>
  %1 = exec.launch @mix(%b, %view) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = exec.launch @mix(%c, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = exec.launch @mix(%d, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The second launch overwrites another operand than the others, and the third none: a group is compiled as one kernel,
// with one pattern.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @sub(%arg3, %arg2)
// CHECK: exec.launch @sub(%arg4, %arg3)
// CHECK: exec.grouped_launch @sub x 2(%arg0, %arg1, %arg5, %arg1)
func.func private @sub(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
  %0 = td.sub %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @step(%a: tensor<4xf32> {td.variable = @a}, %d: tensor<4xf32> {td.scalar = "d"},
                %b: tensor<4xf32> {td.variable = @b}, %e: tensor<4xf32> {td.scalar = "e"},
                %f: tensor<4xf32> {td.scalar = "f"}, %g: tensor<4xf32> {td.variable = @g})
    -> (tensor<4xf32> {td.update = @a}, tensor<4xf32> {td.update = @b}, tensor<4xf32> {td.update = @c},
        tensor<4xf32> {td.update = @g}) {
  %0 = exec.launch @sub(%a, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = exec.launch @sub(%e, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = exec.launch @sub(%f, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = exec.launch @sub(%g, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
