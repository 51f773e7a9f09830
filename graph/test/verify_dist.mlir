// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The verifier of td.cross_replica, message by message.

func.func @cross_replica(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'td.cross_replica' op cannot combine the batched type 'tensor<?x4xf32>'}}
  %0 = td.cross_replica "sum" %x : tensor<?x4xf32>
  return
}
