// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of random numbers, message by message.

func.func @batch_inside(%seed: tensor<i64>, %step: tensor<i64>) {
  // expected-error @+2 {{shape [3,-1] has a negative size in dimension 1; only dimension 0 may be the batch (-1)}}
  // expected-error @+1 {{'td.random_uniform' op failed to infer returned types}}
  %0 = td.random_uniform %seed, %step key 1 shape [3, -1] -> tensor<3x4xf32>
  return
}

// -----

func.func @negative(%seed: tensor<i64>, %step: tensor<i64>) {
  // expected-error @+2 {{shape [-2,4] has a negative size in dimension 0; only dimension 0 may be the batch (-1)}}
  // expected-error @+1 {{'td.random_uniform' op failed to infer returned types}}
  %0 = td.random_uniform %seed, %step key 1 shape [-2, 4] -> tensor<?x4xf32>
  return
}
