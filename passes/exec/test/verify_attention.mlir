// RUN: tandem-opt %s -split-input-file -verify-diagnostics

func.func @scratch(%q: tensor<?x2x5x4xf32>) {
  // expected-error @+1 {{'exec.attention' op gives 'tensor<?x2x5x4xf32>', 'tensor<?x2x5xf32>', 'tensor<?x2x5xf32>', 'tensor<}}
  %y, %m, %s, %scratch = exec.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>) -> (tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<16xui8>)
  return
}

// -----

func.func @operands(%q: tensor<?x5x4xf32>) {
  // expected-error @+1 {{needs queries, keys and values of rank 4, not [b,5,4], [b,5,4] and [b,5,4]}}
  %y, %m, %s, %scratch = exec.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<?x5x4xf32>, tensor<?x5x4xf32>, tensor<?x5x4xf32>) -> (tensor<?x5x4xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<16xui8>)
  return
}
