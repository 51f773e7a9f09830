// RUN: tandem-opt %s -split-input-file -verify-diagnostics

module {
  func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32>
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @+1 {{'exec.launch' op names @step, which is not a kernel}}
    %y = exec.launch @step(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module {
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @+1 {{'exec.grouped_launch' op names @nothing, which is not a kernel}}
    %y = exec.grouped_launch @nothing x 1(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module {
  func.func private @k(%x: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    return %x : tensor<?xf32>
  }
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @+1 {{'exec.launch' op has 2 operands and 1 results, but the kernel has 1 and 1}}
    %y = exec.launch @k(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module {
  func.func private @k(%x: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    return %x : tensor<?xf32>
  }
  func.func @main(%x: tensor<4xf32>) {
    // expected-error @+1 {{'exec.grouped_launch' op has 1 operands and 1 results for 2 members of a kernel with 1 and 1}}
    %y = exec.grouped_launch @k x 2(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'exec.map_microbatches' op has 1 results, but 2 reductions and 1 scopes}}
  %y = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [keep, sum] scope [replica] lanes 1 rows 1 microbatch 1 -> (tensor<?x4xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    exec.yield %xs : tensor<?x4xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'exec.map_microbatches' op has body arguments that differ from its operands}}
  %y = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [keep] scope [replica] lanes 1 rows 1 microbatch 1 -> (tensor<?x5xf32>) {
  ^bb0(%xs: tensor<?x5xf32>):
    exec.yield %xs : tensor<?x5xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'exec.map_microbatches' op yields types that differ from its results}}
  %y = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [keep] scope [replica] lanes 1 rows 1 microbatch 1 -> (tensor<?x5xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    exec.yield %xs : tensor<?x4xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'exec.map_microbatches' op needs positive lanes, rows and microbatch}}
  %y = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [keep] scope [replica] lanes 1 rows 0 microbatch 1 -> (tensor<?x4xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    exec.yield %xs : tensor<?x4xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'exec.map_microbatches' op result 0 is reduced by sum but has type 'tensor<?x4xf32>'}}
  %y = exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum] scope [replica] lanes 1 rows 1 microbatch 1 -> (tensor<?x4xf32>) {
  ^bb0(%xs: tensor<?x4xf32>):
    exec.yield %xs : tensor<?x4xf32>
  }
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{unknown reduction "product"}}
  exec.map_microbatches (%x : tensor<?x4xf32>) reduce [product] scope [replica] lanes 1 rows 1 microbatch 1 {
  }
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{unknown scope "lane"}}
  exec.map_microbatches (%x : tensor<?x4xf32>) reduce [sum] scope [lane] lanes 1 rows 1 microbatch 1 {
  }
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'exec.all_reduce' op needs results of the operands' types}}
  %y = exec.all_reduce sum %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @main(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'exec.all_reduce' op cannot reduce the batched type 'tensor<?x4xf32>'}}
  %y = exec.all_reduce sum %x : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'exec.all_reduce' op has 1 names for 2 operands}}
  %z:2 = exec.all_reduce sum %x, %y {names = ["x"]} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'exec.yield' op expects parent op 'exec.map_microbatches'}}
  exec.yield %x : tensor<4xf32>
}

// -----

// expected-error @+2 {{unknown precision "float16"; use float32, strict_float32 or mixed_bfloat16}}
// expected-error @+1 {{failed to parse Exec_CompileConfigAttr parameter 'precision'}}
module attributes {exec.config = #exec.config<precision = float16>} {}
