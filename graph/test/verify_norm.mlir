// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference and verifiers of softmax, losses and norms, message by message.

func.func @softmax_over_batch(%x: tensor<?xf32>) {
  // expected-error @+1 {{logits [b] have no classes: the last axis must not be the batch}}
  %0 = td.softmax %x : tensor<?xf32>
  return
}

// -----

func.func @log_softmax_of_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{logits [] have no classes: the last axis must not be the batch}}
  %0 = td.log_softmax %x : tensor<f32>
  return
}

// -----

func.func @loss_over_batch(%l: tensor<?xf32>, %x: tensor<?xf32>) {
  // expected-error @+2 {{logits [b] have no classes: the last axis must not be the batch}}
  // expected-error @+1 {{'td.softmax_cross_entropy' op failed to infer returned types}}
  %0 = td.softmax_cross_entropy %l, %x : tensor<?xf32>, tensor<?xf32> -> tensor<f32>
  return
}

// -----

func.func @labels(%l: tensor<?x9xf32>, %x: tensor<?x10xf32>) {
  // expected-error @+2 {{labels [b,9] do not fit logits [b,10]: equal shapes are needed}}
  // expected-error @+1 {{'td.softmax_cross_entropy' op failed to infer returned types}}
  %0 = td.softmax_cross_entropy %l, %x : tensor<?x9xf32>, tensor<?x10xf32> -> tensor<?xf32>
  return
}

// -----

func.func @sparse_labels(%l: tensor<?x1xi64>, %x: tensor<?x10xf32>) {
  // expected-error @+2 {{labels [b,1] do not fit logits [b,10]: one integer per example is needed}}
  // expected-error @+1 {{'td.sparse_softmax_cross_entropy' op failed to infer returned types}}
  %0 = td.sparse_softmax_cross_entropy %l, %x : tensor<?x1xi64>, tensor<?x10xf32> -> tensor<?xf32>
  return
}

// -----

func.func @label_type(%l: tensor<?x10xf64>, %x: tensor<?x10xf32>) {
  // expected-error @+2 {{labels are 'f64', but logits are 'f32'; cast the labels}}
  // expected-error @+1 {{'td.softmax_cross_entropy' op failed to infer returned types}}
  %0 = td.softmax_cross_entropy %l, %x : tensor<?x10xf64>, tensor<?x10xf32> -> tensor<?xf32>
  return
}

// -----

func.func @moments_of_a_vector(%x: tensor<?xf32>, %n: tensor<f32>) {
  // expected-error @+2 {{input [b] needs a batch and a channel dimension}}
  // expected-error @+1 {{'td.batch_moments' op failed to infer returned types}}
  %0, %1 = td.batch_moments %x, %n scope global : tensor<?xf32>, tensor<f32> -> tensor<f32>, tensor<f32>
  return
}

// -----

func.func @count(%x: tensor<?x4xf32>, %n: tensor<3xf32>) {
  // expected-error @+2 {{the count must be a scalar, not [3]}}
  // expected-error @+1 {{'td.batch_moments' op failed to infer returned types}}
  %0, %1 = td.batch_moments %x, %n scope global : tensor<?x4xf32>, tensor<3xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @norm_over_batch(%x: tensor<?xf32>) {
  // expected-error @+2 {{input [b] has nothing to normalise over: the last axis must be neither the batch nor empty}}
  // expected-error @+1 {{'td.layer_norm' op failed to infer returned types}}
  %0, %1 = td.layer_norm %x epsilon 1.0e-3 : tensor<?xf32> -> tensor<?xf32>, tensor<?xf32>
  return
}

// -----

func.func @norm_over_nothing(%x: tensor<?x0xf32>) {
  // expected-error @+2 {{input [b,0] has nothing to normalise over: the last axis must be neither the batch nor empty}}
  // expected-error @+1 {{'td.layer_norm' op failed to infer returned types}}
  %0, %1 = td.layer_norm %x epsilon 1.0e-3 : tensor<?x0xf32> -> tensor<?x0xf32>, tensor<?xf32>
  return
}

// -----

func.func @epsilon(%x: tensor<?x4xf32>) {
  // expected-error @+2 {{needs an epsilon that is not negative, not -0.5}}
  // expected-error @+1 {{'td.layer_norm' op failed to infer returned types}}
  %0, %1 = td.layer_norm %x epsilon -0.5 : tensor<?x4xf32> -> tensor<?x4xf32>, tensor<?xf32>
  return
}
