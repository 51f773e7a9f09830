// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The verifier of td.cross_replica, message by message, and an unknown kind.

func.func @cross_replica(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{'td.cross_replica' op cannot combine the batched type 'tensor<?x4xf32>'}}
  %0 = td.cross_replica sum %x : tensor<?x4xf32>
  return
}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+2 {{to be one of: sum, mean}}
  // expected-error @+1 {{failed to parse Td_CrossReplicaKindAttr}}
  %0 = td.cross_replica max %x : tensor<4xf32>
  return
}
