// RUN: tandem-opt %s -td-schedule | FileCheck %s

func.func private @wide(%x: tensor<?x4xf32>) -> tensor<?x400xf32> attributes {td.kernel = "loop"} {
  %0 = td.pad %x low [0, 0] high [0, 396] value 0.0 : tensor<?x4xf32> -> tensor<?x400xf32>
  return %0 : tensor<?x400xf32>
}
func.func private @sum(%x: tensor<?x400xf32>) -> tensor<400xf32> attributes {td.kernel = "col"} {
  %0 = td.reduce "sum", %x axes [0] : tensor<?x400xf32> -> tensor<400xf32>
  return %0 : tensor<400xf32>
}

// Each wide value is summed before the next one is made, so that only one is live.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<?x4xf32>) -> (tensor<400xf32>, tensor<400xf32>) {
  %r:2 = td.map_shards (%x : tensor<?x4xf32>) reduce ["sum", "sum"] scope ["global", "global"] lanes 8 rows 8 shard 8
      -> (tensor<400xf32>, tensor<400xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    // CHECK: %[[A:.*]] = td.launch @wide
    // CHECK-NEXT: %[[SA:.*]] = td.launch @sum(%[[A]])
    // CHECK-NEXT: %[[B:.*]] = td.launch @wide
    // CHECK-NEXT: %[[SB:.*]] = td.launch @sum(%[[B]])
    // CHECK-NEXT: td.yield %[[SA]], %[[SB]]
    %a = td.launch @wide(%xs) : (tensor<?x4xf32>) -> tensor<?x400xf32>
    %b = td.launch @wide(%xs) : (tensor<?x4xf32>) -> tensor<?x400xf32>
    %sa = td.launch @sum(%a) : (tensor<?x400xf32>) -> tensor<400xf32>
    %sb = td.launch @sum(%b) : (tensor<?x400xf32>) -> tensor<400xf32>
    td.yield %sa, %sb : tensor<400xf32>, tensor<400xf32>
  }
  return %r#0, %r#1 : tensor<400xf32>, tensor<400xf32>
}
