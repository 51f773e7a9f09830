// Contractions: matmul, batched matmul, convolution and its gradients. Activations are NHWC, kernels HWIO. All sums are float32; with
// `f32_result` bfloat16 operands give a float32 result, which is not rounded.
include "graph/ir/td_base.td"

class Td_ContractOp<string mnemonic, list<Trait> traits = []>
    : Td_PureOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
        DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_LibraryOp>,
        DeclareOpInterfaceMethods<Td_CostOp>,
        DeclareOpInterfaceMethods<Td_PrecisionOp, ["getPrecisionRule", "useFloat32Results"]>]> {
  let extraClassDefinition = [{
    ::tandem::td::PrecisionRule $cppClass::getPrecisionRule() { return ::tandem::td::PrecisionRule::kAllow; }
    bool $cppClass::useFloat32Results() {
      setF32Result(true);
      return true;
    }
  }];
}

def Td_MatMulOp : Td_ContractOp<"matmul"> {
  let summary = "product of two matrices, either of them transposed";
  let description = [{
    [b, k] x [k, n] works per example; the transposed product of two batched operands sums over the batch. Dimensions
    between the batch and the last one are rows too: [b, s, k] x [k, n] is [b, s, n], and the transposed product of
    [b, s, k] and [b, s, n] sums over b and s.
    ```mlir
    %y = td.matmul %x, %w : tensor<?x8xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
    %dw = td.matmul %x, %dy {transpose_a = true} : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$a, Td_FloatTensor:$b, DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b, UnitAttr:$f32_result);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($output)";
}

// Where the target's library multiplies bfloat16 matrices; else it keeps float32.
def Td_BatchMatMulOp : Td_PureOp<"batch_matmul", [
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_LibraryOp>,
    DeclareOpInterfaceMethods<Td_CostOp>, DeclareOpInterfaceMethods<Td_PrecisionOp>]> {
  let summary = "products of matrices, one for every index of the leading dimensions";
  let description = [{
    [..., m, k] x [..., k, n] is [..., m, n]; the leading dimensions, at least one, are equal. `transpose_a` and
    `transpose_b` say that the operand is stored as [..., k, m], [..., n, k]. `swap_a`, `swap_b` and `swap_output` say
    that the tensor is stored with its last leading dimension behind the next one, [..., rows, h, columns], as attention
    heads lie in the result of a dense layer: nothing has to be transposed in memory.
    ```mlir
    %s = td.batch_matmul %q, %k {swap_a = true, swap_b = true, transpose_b = true} : tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32> -> tensor<?x4x128x128xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$a, Td_FloatTensor:$b, DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b, DefaultValuedAttr<BoolAttr, "false">:$swap_a,
                       DefaultValuedAttr<BoolAttr, "false">:$swap_b, DefaultValuedAttr<BoolAttr, "false">:$swap_output);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($output)";
}

def Td_Conv2DOp : Td_ContractOp<"conv2d"> {
  let summary = "2-D convolution (cross-correlation, as in TensorFlow)";
  let description = [{
    x is [b, h, w, in channels], the kernel [kernel h, kernel w, in channels, out channels]. `strides`, `low` and `high` are
    for height and width; `low` and `high` count the zeros before and behind, so that "same" padding is worked out before.
    ```mlir
    %y = td.conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x28x28x1xf32>, tensor<3x3x1x32xf32> -> tensor<?x26x26x32xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, Td_FloatTensor:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, UnitAttr:$f32_result);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = [{
    $x `,` $kernel `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `,` type($kernel) `->` type($output)
  }];
}

def Td_Conv2DInputGradOp : Td_ContractOp<"conv2d_input_grad"> {
  let summary = "gradient of conv2d to its input";
  let description = [{
    `size` is the input's height and width, which the strides may leave open.
    ```mlir
    %dx = td.conv2d_input_grad %dy, %k size [8, 8] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x4x4x5xf32>, tensor<3x3x3x5xf32> -> tensor<?x8x8x3xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$dy, Td_FloatTensor:$kernel, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, UnitAttr:$f32_result);
  let results = (outs Td_FloatTensor:$dx);
  let assemblyFormat = [{
    $dy `,` $kernel `size` $size `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($dy) `,` type($kernel) `->` type($dx)
  }];
}

def Td_Conv2DFilterGradOp : Td_ContractOp<"conv2d_filter_grad"> {
  let summary = "gradient of conv2d to its kernel: a sum over the batch";
  let description = [{
    `size` is the kernel's height and width.
    ```mlir
    %dk = td.conv2d_filter_grad %x, %dy size [3, 3] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x8x8x3xf32>, tensor<?x4x4x5xf32> -> tensor<3x3x3x5xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, Td_FloatTensor:$dy, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, UnitAttr:$f32_result);
  let results = (outs Td_FloatTensor:$dkernel);
  let assemblyFormat = [{
    $x `,` $dy `size` $size `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `,` type($dy) `->` type($dkernel)
  }];
}

// Every output channel reads one channel of the input. A kernel is [height, width, 1, out channels], as of a grouped
// convolution, which libraries compute: output channel o reads input channel o / (out channels / in channels). Where a
// library has none, or a slow one, generated kernels do.
class Td_DepthwiseOp<string mnemonic>
    : Td_PureOp<mnemonic, [
        DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
        DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_ElementalOp>,
        DeclareOpInterfaceMethods<Td_LibraryOp>, DeclareOpInterfaceMethods<Td_CostOp>]> {
  let extraClassDefinition = [{
    // Generated gradients to the kernel are sums over the rows of a batch, into columns: else only libraries compute.
    ::tandem::td::FusionKind $cppClass::getFusionKind() {
      auto type = ::tandem::td::TypeOf(getOperation()->getOperand(0));
      return ::tandem::td::IsBatched(type) && type.getShape().back() > 1 ? ::tandem::td::FusionKind::kWindow
                                                                        : ::tandem::td::FusionKind::kNone;
    }
  }];
}

def Td_DepthwiseConv2DOp : Td_DepthwiseOp<"depthwise_conv2d"> {
  let summary = "2-D convolution of every channel by itself (TensorFlow's depthwise_conv2d_native)";
  let description = [{
    x is [b, h, w, channels], the kernel [kernel h, kernel w, 1, channels x multiplier]. Strides and pads are those of
    td.conv2d.
    ```mlir
    %y = td.depthwise_conv2d %x, %k strides [1, 1] low [1, 1] high [1, 1] : tensor<?x14x14x32xf32>, tensor<3x3x1x32xf32> -> tensor<?x14x14x32xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, Td_FloatTensor:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = [{
    $x `,` $kernel `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `,` type($kernel) `->` type($output)
  }];
}

def Td_DepthwiseConv2DInputGradOp : Td_DepthwiseOp<"depthwise_conv2d_input_grad"> {
  let summary = "gradient of depthwise_conv2d to its input";
  let description = [{
    `size` is the input's height, width and channels.
    ```mlir
    %dx = td.depthwise_conv2d_input_grad %dy, %k size [8, 8, 3] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x4x4x6xf32>, tensor<3x3x1x6xf32> -> tensor<?x8x8x3xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$dy, Td_FloatTensor:$kernel, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$dx);
  let assemblyFormat = [{
    $dy `,` $kernel `size` $size `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($dy) `,` type($kernel) `->` type($dx)
  }];
}

def Td_DepthwiseConv2DFilterGradOp : Td_DepthwiseOp<"depthwise_conv2d_filter_grad"> {
  let summary = "gradient of depthwise_conv2d to its kernel: a sum over the batch";
  let description = [{
    `size` is the kernel's height and width. dy comes first, because the sum runs over its elements.
    ```mlir
    %dk = td.depthwise_conv2d_filter_grad %dy, %x size [3, 3] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x4x4x6xf32>, tensor<?x8x8x3xf32> -> tensor<3x3x1x6xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$dy, Td_FloatTensor:$x, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$dkernel);
  let assemblyFormat = [{
    $dy `,` $x `size` $size `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($dy) `,` type($x) `->` type($dkernel)
  }];
}
