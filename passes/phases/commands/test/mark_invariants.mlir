// RUN: tandem-opt %s -td-assign-buffers -td-mark-invariants -split-input-file | FileCheck %s

func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// The program writes @w, and what is made of it is computed in every step. What is made of @frozen alone is there in the
// next step: its places are shared by nothing else.
// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = exec.launch @half(%arg0) {exec.execution = #exec.execution<invariant = true>
// CHECK-NEXT: %[[B:.*]] = exec.launch @half(%[[A]]) {exec.execution = #exec.execution<invariant = true>
// CHECK-NEXT: %[[C:.*]] = exec.launch @half(%arg1) {exec.out
// CHECK-NEXT: exec.launch @half(%[[C]]) {exec.out
func.func @step(%f: tensor<16xf32> {td.variable = @frozen}, %w: tensor<16xf32> {td.variable = @w})
    -> (tensor<16xf32> {td.output = "b"}, tensor<16xf32> {td.update = @w}) {
  %a = exec.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %b = exec.launch @half(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %c = exec.launch @half(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %d = exec.launch @half(%c) : (tensor<16xf32>) -> tensor<16xf32>
  return %b, %d : tensor<16xf32>, tensor<16xf32>
}

// -----

func.func private @half(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @fill(%x: tensor<f32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<split>} {
  %0 = td.broadcast %x dims [] : tensor<f32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// What a scalar is fed for is computed in every step.
// CHECK-LABEL: func.func @step
// CHECK: exec.launch @half(%arg0) {exec.execution = #exec.execution<invariant = true>
// CHECK-NEXT: exec.launch @fill({{.*}}) {exec.out
func.func @step(%f: tensor<16xf32> {td.variable = @frozen}, %r: tensor<f32> {td.scalar = "rate"})
    -> (tensor<16xf32> {td.output = "a"}, tensor<16xf32> {td.output = "b"}) {
  %a = exec.launch @half(%f) : (tensor<16xf32>) -> tensor<16xf32>
  %b = exec.launch @fill(%r) : (tensor<f32>) -> tensor<16xf32>
  return %a, %b : tensor<16xf32>, tensor<16xf32>
}
