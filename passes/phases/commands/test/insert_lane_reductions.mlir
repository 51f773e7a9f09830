// RUN: tandem-opt %s -td-assign-buffers -td-insert-lane-reductions -split-input-file | FileCheck %s

func.func private @sum(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @max(%x: tensor<?x16xf32>) -> tensor<16xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce max, %x axes [0] : tensor<?x16xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.neg %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// Two sums and a maximum: one reduction for each kind, in this order. What is kept row by row has no slots.
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]]:4 = exec.map_microbatches
// CHECK: exec.out = array<i64: [[A:[0-9]+]], [[B:[0-9]+]], [[K:[0-9]+]], [[C:[0-9]+]]>
// CHECK: %[[S:.*]]:2 = exec.lane_reduce sum %[[M]]#0, %[[M]]#3 {exec.out = array<i64: [[D:[0-9]+]], [[E:[0-9]+]]>}
// CHECK-NEXT: %[[X:.*]] = exec.lane_reduce max %[[M]]#1 {exec.out = array<i64: [[F:[0-9]+]]>}
// CHECK-NEXT: return {exec.out = array<i64>} %[[S]]#0, %[[X]], %[[M]]#2, %[[S]]#1
func.func @step(%x: tensor<?x16xf32> {td.input = "x"})
    -> (tensor<16xf32> {td.output = "s"}, tensor<16xf32> {td.output = "m"}, tensor<?x16xf32> {td.output = "y"},
        tensor<16xf32> {td.output = "t"}) {
  %r:4 = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [sum, max, keep, sum]
      scope [global, global, replica, global] lanes 8 rows 8 microbatch 8
      -> (tensor<16xf32>, tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32>) {
  ^bb0(%xs: tensor<?x16xf32>):
    %s = exec.launch @sum(%xs) : (tensor<?x16xf32>) -> tensor<16xf32>
    %m = exec.launch @max(%xs) : (tensor<?x16xf32>) -> tensor<16xf32>
    %y = exec.launch @neg(%xs) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    %t = exec.launch @sum(%y) : (tensor<?x16xf32>) -> tensor<16xf32>
    exec.yield %s, %m, %y, %t : tensor<16xf32>, tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<16xf32>, tensor<16xf32>, tensor<?x16xf32>, tensor<16xf32>
}

// -----

func.func private @neg(%x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.neg %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// Nothing to combine.
// CHECK-LABEL: func.func @step
// CHECK-NOT: exec.lane_reduce
func.func @step(%x: tensor<?x16xf32> {td.input = "x"}) -> (tensor<?x16xf32> {td.output = "y"}) {
  %r = exec.map_microbatches (%x : tensor<?x16xf32>) reduce [keep] scope [replica] lanes 8 rows 8 microbatch 8 -> (tensor<?x16xf32>) {
  ^bb0(%xs: tensor<?x16xf32>):
    %y = exec.launch @neg(%xs) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    exec.yield %y : tensor<?x16xf32>
  }
  return %r : tensor<?x16xf32>
}
