// RUN: tandem-opt %s -td-schedule | FileCheck %s

func.func private @wide(%x: tensor<?x4xf32>) -> tensor<?x400xf32> attributes {exec.kernel = #exec.kernel_kind<loop>} {
  %0 = td.pad %x low [0, 0] high [0, 396] value 0.0 : tensor<?x4xf32> -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}
func.func private @sum(%x: tensor<?x400xf32>) -> tensor<400xf32> attributes {exec.kernel = #exec.kernel_kind<col>} {
  %0 = td.reduce sum, %x axes [0] : tensor<?x400xf32> -> tensor<400xf32>
  return %0 : tensor<400xf32>
}

// Each wide value is summed before the next one is made, so that only one is live.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?x4xf32>) -> (tensor<400xf32>, tensor<400xf32>) {
  %r:2 = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum, sum] scope [global, global] lanes 8 rows 8 microbatch 8
      -> (tensor<400xf32>, tensor<400xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    // CHECK: %[[A:.*]] = exec.launch @wide
    // CHECK-NEXT: %[[SA:.*]] = exec.launch @sum(%[[A]])
    // CHECK-NEXT: %[[B:.*]] = exec.launch @wide
    // CHECK-NEXT: %[[SB:.*]] = exec.launch @sum(%[[B]])
    // CHECK-NEXT: exec.yield %[[SA]], %[[SB]]
    %a = exec.launch @wide(%xs) : (tensor<?x4xf32>) -> tensor<?x400xf32>
    %b = exec.launch @wide(%xs) : (tensor<?x4xf32>) -> tensor<?x400xf32>
    %sa = exec.launch @sum(%a) : (tensor<?x400xf32>) -> tensor<400xf32>
    %sb = exec.launch @sum(%b) : (tensor<?x400xf32>) -> tensor<400xf32>
    exec.yield %sa, %sb : tensor<400xf32>, tensor<400xf32>
  }
  return %r#0, %r#1 : tensor<400xf32>, tensor<400xf32>
}
