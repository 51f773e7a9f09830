// RUN: tandem-opt %s -split-input-file -verify-diagnostics
// The type inference of contractions, message by message.

func.func @matmul_of_a_vector(%x: tensor<8xf32>, %y: tensor<8x4xf32>) {
  // expected-error @+2 {{operands [8] and [8,4] must be matrices}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y : tensor<8xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @matmul_of_two_types(%x: tensor<?x8xf32>, %y: tensor<8x4xbf16>) {
  // expected-error @+2 {{operands must have one element type, not 'f32' and 'bf16'; cast one of them}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y : tensor<?x8xf32>, tensor<8x4xbf16> -> tensor<?x4xf32>
  return
}

// -----

func.func @matrix_per_example(%x: tensor<?x3x8xf32>, %y: tensor<?x8x3xf32>) {
  // expected-error @+2 {{does not multiply [b,3,8] by [b,8,3]: batch_matmul may be meant}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y : tensor<?x3x8xf32>, tensor<?x8x3xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @transposed_matrix_per_example(%x: tensor<?x3x8xf32>, %y: tensor<4x8xf32>) {
  // expected-error @+2 {{does not multiply [b,3,8] (transposed) by [4,8] (transposed): batch_matmul may be meant}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y {transpose_a = true, transpose_b = true} : tensor<?x3x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @inner(%x: tensor<?x8xf32>, %y: tensor<7x4xf32>) {
  // expected-error @+2 {{inner sizes of [b,8] and [7,4] differ}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y : tensor<?x8xf32>, tensor<7x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @inner_transposed(%x: tensor<?x8xf32>, %y: tensor<4x7xf32>) {
  // expected-error @+2 {{inner sizes of [b,8] (transposed) and [4,7] (transposed) differ}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y {transpose_a = true, transpose_b = true} : tensor<?x8xf32>, tensor<4x7xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @inner_of_rows(%x: tensor<?x3x8xf32>, %y: tensor<4x7xf32>) {
  // expected-error @+2 {{inner sizes of [b,3,8] and [4,7] (transposed) differ}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y {transpose_b = true} : tensor<?x3x8xf32>, tensor<4x7xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @batch_as_columns(%x: tensor<4x8xf32>, %y: tensor<?x8xf32>) {
  // expected-error @+2 {{the batch of [b,8] would become columns; it must stay dimension 0}}
  // expected-error @+1 {{'td.matmul' op failed to infer returned types}}
  %0 = td.matmul %x, %y {transpose_b = true} : tensor<4x8xf32>, tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @batch_matmul_of_a_matrix(%x: tensor<?x8xf32>, %y: tensor<?x8x3xf32>) {
  // expected-error @+2 {{operands [b,8] and [b,8,3] need the same leading dimensions, at least one, before their matrices}}
  // expected-error @+1 {{'td.batch_matmul' op failed to infer returned types}}
  %0 = td.batch_matmul %x, %y : tensor<?x8xf32>, tensor<?x8x3xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @batch_matmul_of_two_types(%x: tensor<?x3x8xf32>, %y: tensor<?x8x3xf64>) {
  // expected-error @+2 {{operands must have one element type, not 'f32' and 'f64'; cast one of them}}
  // expected-error @+1 {{'td.batch_matmul' op failed to infer returned types}}
  %0 = td.batch_matmul %x, %y : tensor<?x3x8xf32>, tensor<?x8x3xf64> -> tensor<?x4xf32>
  return
}

// -----

func.func @nothing_to_swap(%x: tensor<?x3x8xf32>, %y: tensor<?x8x3xf32>) {
  // expected-error @+2 {{has no leading dimension besides the first of [b,3,8] to swap}}
  // expected-error @+1 {{'td.batch_matmul' op failed to infer returned types}}
  %0 = td.batch_matmul %x, %y {swap_b = true} : tensor<?x3x8xf32>, tensor<?x8x3xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @heads(%x: tensor<?x3x2x8xf32>, %y: tensor<?x2x3x8xf32>) {
  // expected-error @+2 {{leading dimensions of [b,3,2,8] and [b,2,3,8] differ}}
  // expected-error @+1 {{'td.batch_matmul' op failed to infer returned types}}
  %0 = td.batch_matmul %x, %y {transpose_b = true} : tensor<?x3x2x8xf32>, tensor<?x2x3x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @swapped_heads(%x: tensor<?x5x2x8xf32>, %y: tensor<?x5x2x8xf32>) {
  // expected-error @+2 {{leading dimensions of [b,5,2,8] (swapped) and [b,5,2,8] differ}}
  // expected-error @+1 {{'td.batch_matmul' op failed to infer returned types}}
  %0 = td.batch_matmul %x, %y {swap_a = true, transpose_b = true} : tensor<?x5x2x8xf32>, tensor<?x5x2x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @inner_of_batches(%x: tensor<?x3x8xf32>, %y: tensor<?x8x3xf32>) {
  // expected-error @+2 {{inner sizes of [b,3,8] (transposed) and [b,8,3] differ}}
  // expected-error @+1 {{'td.batch_matmul' op failed to infer returned types}}
  %0 = td.batch_matmul %x, %y {transpose_a = true} : tensor<?x3x8xf32>, tensor<?x8x3xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @one_stride(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x5xf32>) {
  // expected-error @+2 {{needs strides and pads for height and width, not strides [1], low [0,0] and high [0,0,0]}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1] low [0, 0] high [0, 0, 0] : tensor<?x8x8x3xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @no_stride(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x5xf32>) {
  // expected-error @+2 {{strides [0,1] must be at least 1, and low [0,0] and high [0,0] must not be negative}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [0, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @negative_pad(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x5xf32>) {
  // expected-error @+2 {{strides [1,1] must be at least 1, and low [0,0] and high [0,-1] must not be negative}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, -1] : tensor<?x8x8x3xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @conv2d_of_two_types(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x3x5xbf16>) {
  // expected-error @+2 {{operands must have one element type, not 'f32' and 'bf16'; cast one of them}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<3x3x3x5xbf16> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @image_rank(%x: tensor<?x8x8xf32>, %k: tensor<3x3x3x5xf32>) {
  // expected-error @+2 {{image [b,8,8] must have 4 dimensions [batch, height, width, channels]}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @kernel_rank(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x5xf32>) {
  // expected-error @+2 {{kernel [3,3,5] must have 4 dimensions [height, width, in, out]}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<3x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @channels(%x: tensor<?x8x8x3xf32>, %k: tensor<3x3x4x5xf32>) {
  // expected-error @+2 {{input [b,8,8,3] has 3 channels, but the kernel [3,3,4,5] takes 4}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<3x3x4x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @too_small(%x: tensor<?x8x8x3xf32>, %k: tensor<9x9x3x5xf32>) {
  // expected-error @+2 {{input [b,8,8,3] is smaller than the kernel [9,9,3,5] with VALID padding}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<9x9x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @too_small_with_padding(%x: tensor<?x8x8x3xf32>, %k: tensor<11x11x3x5xf32>) {
  // expected-error @+2 {{input [b,8,8,3] is smaller than the kernel [11,11,3,5] with its padding}}
  // expected-error @+1 {{'td.conv2d' op failed to infer returned types}}
  %0 = td.conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x8x8x3xf32>, tensor<11x11x3x5xf32> -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @input_size(%x: tensor<?x6x6x5xf32>, %y: tensor<3x3x3x5xf32>) {
  // expected-error @+2 {{size [8] must be the input's height and width}}
  // expected-error @+1 {{'td.conv2d_input_grad' op failed to infer returned types}}
  %0 = td.conv2d_input_grad %x, %y size [8] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x5xf32>, tensor<3x3x3x5xf32> -> tensor<3x3x3x5xf32>
  return
}

// -----

func.func @gradient_channels(%x: tensor<?x6x6x4xf32>, %y: tensor<3x3x3x5xf32>) {
  // expected-error @+2 {{gradient [b,6,6,4] and kernel [3,3,3,5] differ in channels}}
  // expected-error @+1 {{'td.conv2d_input_grad' op failed to infer returned types}}
  %0 = td.conv2d_input_grad %x, %y size [8, 8] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x6x6x4xf32>, tensor<3x3x3x5xf32> -> tensor<3x3x3x5xf32>
  return
}

// -----

func.func @kernel_size(%x: tensor<?x8x8x3xf32>, %y: tensor<?x6x6x5xf32>) {
  // expected-error @+2 {{size [3,3,3] must be the kernel's height and width}}
  // expected-error @+1 {{'td.conv2d_filter_grad' op failed to infer returned types}}
  %0 = td.conv2d_filter_grad %x, %y size [3, 3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<?x6x6x5xf32> -> tensor<3x3x3x5xf32>
  return
}

// -----

func.func @gradient_rank(%x: tensor<?x8x8x3xf32>, %y: tensor<?x6x6xf32>) {
  // expected-error @+2 {{image [b,6,6] must have 4 dimensions [batch, height, width, channels]}}
  // expected-error @+1 {{'td.conv2d_filter_grad' op failed to infer returned types}}
  %0 = td.conv2d_filter_grad %x, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<?x6x6xf32> -> tensor<3x3x3x5xf32>
  return
}

// -----

func.func @gradient_rows(%x: tensor<?x8x8x3xf32>, %y: tensor<2x6x6x5xf32>) {
  // expected-error @+2 {{input [b,8,8,3] and gradient [2,6,6,5] differ in rows}}
  // expected-error @+1 {{'td.conv2d_filter_grad' op failed to infer returned types}}
  %0 = td.conv2d_filter_grad %x, %y size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x8x8x3xf32>, tensor<2x6x6x5xf32> -> tensor<3x3x3x5xf32>
  return
}
