// RUN: tandem-opt %s -split-input-file -verify-diagnostics

func.func @rank(%q: tensor<?x4x8xf32>) {
  // expected-error @+2 {{needs queries, keys and values of rank 4, not [b,4,8], [b,4,8] and [b,4,8]}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %m, %s = "td.attention"(%q, %q, %q) {scale = 1.0 : f64} : (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> (tensor<?x4x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
  return
}

// -----

func.func @sizes(%q: tensor<?x2x4x8xf32>, %k: tensor<?x2x5x6xf32>) {
  // expected-error @+2 {{keys [b,2,5,6] and values [b,2,5,6] do not fit queries [b,2,4,8]}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %m, %s = "td.attention"(%q, %k, %k) {scale = 1.0 : f64} : (tensor<?x2x4x8xf32>, tensor<?x2x5x6xf32>, tensor<?x2x5x6xf32>) -> (tensor<?x2x4x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @causal(%q: tensor<?x2x4x8xf32>, %k: tensor<?x2x5x8xf32>) {
  // expected-error @+2 {{is causal, and has 5 keys for 4 queries: as many are needed}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %m, %s = "td.attention"(%q, %k, %k) {scale = 1.0 : f64, causal} : (tensor<?x2x4x8xf32>, tensor<?x2x5x8xf32>, tensor<?x2x5x8xf32>) -> (tensor<?x2x4x8xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @keep(%q: tensor<?x2x4x8xf32>, %k: tensor<?x2x5x8xf32>, %c: tensor<?x4xi1>) {
  // expected-error @+2 {{keep [b,4] has no place for each key, or each query and key, of [b,2,4,8] and [b,2,5,8]}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %m, %s = "td.attention"(%q, %k, %k, %c) {scale = 1.0 : f64} : (tensor<?x2x4x8xf32>, tensor<?x2x5x8xf32>, tensor<?x2x5x8xf32>, tensor<?x4xi1>) -> (tensor<?x2x4x8xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @gradient(%q: tensor<?x2x4x8xf32>, %m: tensor<?x2x4xf32>, %dy: tensor<?x2x4x7xf32>) {
  // expected-error @+2 {{needs [b,2,4,8], not [b,2,4,7]}}
  // expected-error @+1 {{failed to infer returned types}}
  %dq, %dk, %dv = "td.attention_grad"(%q, %q, %q, %q, %m, %m, %dy) {scale = 1.0 : f64} : (tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4x7xf32>) -> (tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>)
  return
}

// -----

func.func @rows(%q: tensor<?x2x4x8xbf16>, %k: tensor<?x2x4x8xf32>) {
  // expected-error @+2 {{keys [b,2,4,8] and values [b,2,4,8] do not fit queries [b,2,4,8]}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %m, %s = "td.attention"(%q, %k, %k) {scale = 1.0 : f64} : (tensor<?x2x4x8xbf16>, tensor<?x2x4x8xf32>, tensor<?x2x4x8xf32>) -> (tensor<?x2x4x8xbf16>, tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  return
}

// -----

func.func @statistics(%q: tensor<?x2x4x8xbf16>) {
  %y, %m, %s = td.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>) -> (tensor<?x2x4x8xbf16>, tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  // expected-error @+1 {{operand #4 must be ranked tensor of 32-bit float values}}
  %dq, %dk, %dv = "td.attention_grad"(%q, %q, %q, %y, %y, %s, %y) {scale = 1.0 : f64} : (tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>, tensor<?x2x4xf32>, tensor<?x2x4x8xbf16>) -> (tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>, tensor<?x2x4x8xbf16>)
  return
}
