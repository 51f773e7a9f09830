// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference and verifiers of ops that move elements, message by message.

func.func @iota() {
  // expected-error @+1 {{'td.iota' op axis 2 is not a dimension of [b,10]}}
  %0 = td.iota axis 2 : tensor<?x10xi64>
  return
}

// -----

func.func @broadcast_type(%b: tensor<3xf32>) {
  // expected-error @+1 {{'td.broadcast' op changes the element type from 'f32' to 'f64', which only td.cast does}}
  %0 = td.broadcast %b dims [1] : tensor<3xf32> -> tensor<?x3xf64>
  return
}

// -----

func.func @broadcast_rank(%b: tensor<3xf32>) {
  // expected-error @+1 {{'td.broadcast' op dims [0,1] need one entry per dimension of the operand [3]}}
  %0 = td.broadcast %b dims [0, 1] : tensor<3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @broadcast_order(%b: tensor<2x3xf32>) {
  // expected-error @+1 {{'td.broadcast' op dims [1,0] must increase and name dimensions of [3,2]}}
  %0 = td.broadcast %b dims [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_dimension(%b: tensor<3xf32>) {
  // expected-error @+1 {{'td.broadcast' op dims [-1] must increase and name dimensions of [b,3]}}
  %0 = td.broadcast %b dims [-1] : tensor<3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @broadcast_size(%b: tensor<3xf32>) {
  // expected-error @+1 {{'td.broadcast' op dimension 0 of [3] differs from dimension 0 of [b,3]}}
  %0 = td.broadcast %b dims [0] : tensor<3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<?x2x3xf32>) {
  // expected-error @+1 {{'td.reshape' op changes the element type from 'f32' to 'i32', which only td.cast does}}
  %0 = td.reshape %x : tensor<?x2x3xf32> -> tensor<?x6xi32>
  return
}

// -----

func.func @reshape_batch(%x: tensor<?x2x3xf32>) {
  // expected-error @+1 {{'td.reshape' op from [b,2,3] to [6] does not keep the batch as dimension 0}}
  %0 = td.reshape %x : tensor<?x2x3xf32> -> tensor<6xf32>
  return
}

// -----

func.func @reshape_elements(%x: tensor<?x2x3xf32>) {
  // expected-error @+1 {{'td.reshape' op from [b,2,3] to [b,5] changes the number of elements (6 to 5 per example); choose sizes whose product is 6}}
  %0 = td.reshape %x : tensor<?x2x3xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @reshape_static(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'td.reshape' op from [2,3] to [5] changes the number of elements (6 to 5); choose sizes whose product is 6}}
  %0 = td.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @permutation(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{[0,-1,1] is not a permutation of the dimensions of [b,2,3]}}
  // expected-error @+1 {{'td.transpose' op failed to infer returned types}}
  %0 = td.transpose %x perm [0, -1, 1] : tensor<?x2x3xf32> -> tensor<?x3x2xf32>
  return
}

// -----

func.func @short_permutation(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{[0,1] is not a permutation of the dimensions of [b,2,3]}}
  // expected-error @+1 {{'td.transpose' op failed to infer returned types}}
  %0 = td.transpose %x perm [0, 1] : tensor<?x2x3xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @transposed_batch(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{permutation [1,0,2] moves the batch of [b,2,3] from dimension 0}}
  // expected-error @+1 {{'td.transpose' op failed to infer returned types}}
  %0 = td.transpose %x perm [1, 0, 2] : tensor<?x2x3xf32> -> tensor<2x?x3xf32>
  return
}

// -----

func.func @slice_rank(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{begin [0,0] and size [-1,-1] need one entry per dimension of [b,2,3]}}
  // expected-error @+1 {{'td.slice' op failed to infer returned types}}
  %0 = td.slice %x begin [0, 0] size [-1, -1] : tensor<?x2x3xf32> -> tensor<?x2x3xf32>
  return
}

// -----

func.func @sliced_batch(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{cannot cut the batch of [b,2,3]: dimension 0 needs begin 0 and size -1}}
  // expected-error @+1 {{'td.slice' op failed to infer returned types}}
  %0 = td.slice %x begin [0, 0, 0] size [4, 2, 3] : tensor<?x2x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @slice_outside(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{begin [0,0,2] and size [-1,-1,2] in dimension 2 are outside of [b,2,3]}}
  // expected-error @+1 {{'td.slice' op failed to infer returned types}}
  %0 = td.slice %x begin [0, 0, 2] size [-1, -1, 2] : tensor<?x2x3xf32> -> tensor<?x2x2xf32>
  return
}

// -----

func.func @pad_rank(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{low [0,1] and high [0,1] need one entry per dimension of [b,2,3]}}
  // expected-error @+1 {{'td.pad' op failed to infer returned types}}
  %0 = td.pad %x low [0, 1] high [0, 1] : tensor<?x2x3xf32> -> tensor<?x4x5xf32>
  return
}

// -----

func.func @negative_pad(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{low [0,0,-1] and high [0,0,0] must not be negative}}
  // expected-error @+1 {{'td.pad' op failed to infer returned types}}
  %0 = td.pad %x low [0, 0, -1] high [0, 0, 0] : tensor<?x2x3xf32> -> tensor<?x2x2xf32>
  return
}

// -----

func.func @padded_batch(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{cannot pad the batch of [b,2,3]: dimension 0 needs low 0 and high 0}}
  // expected-error @+1 {{'td.pad' op failed to infer returned types}}
  %0 = td.pad %x low [1, 0, 0] high [0, 0, 0] : tensor<?x2x3xf32> -> tensor<?x2x3xf32>
  return
}

// -----

func.func @concat_of_nothing() {
  // expected-error @+2 {{needs at least one operand}}
  // expected-error @+1 {{'td.concat' op failed to infer returned types}}
  %0 = td.concat axis 0 : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_axis(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{axis 3 is not a dimension of [b,2,3]}}
  // expected-error @+1 {{'td.concat' op failed to infer returned types}}
  %0 = td.concat %x, %x axis 3 : (tensor<?x2x3xf32>, tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  return
}

// -----

func.func @concat_batch(%x: tensor<?x2x3xf32>) {
  // expected-error @+2 {{cannot concatenate along the batch of [b,2,3]}}
  // expected-error @+1 {{'td.concat' op failed to infer returned types}}
  %0 = td.concat %x, %x axis 0 : (tensor<?x2x3xf32>, tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  return
}

// -----

func.func @concat_sizes(%x: tensor<?x2x3xf32>, %y: tensor<?x2x4xf32>) {
  // expected-error @+2 {{operand 1, of shape [b,2,4], must have the dtype of operand 0, [b,2,3], and its size in all dimensions but 1; Pad or Slice one of them}}
  // expected-error @+1 {{'td.concat' op failed to infer returned types}}
  %0 = td.concat %x, %y axis 1 : (tensor<?x2x3xf32>, tensor<?x2x4xf32>) -> tensor<?x4x3xf32>
  return
}

// -----

func.func @one_hot(%i: tensor<?xi64>) {
  // expected-error @+1 {{'td.one_hot' op from [b] to [b] must add one last static dimension}}
  %0 = td.one_hot %i : tensor<?xi64> -> tensor<?xf32>
  return
}
