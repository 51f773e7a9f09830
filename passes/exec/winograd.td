// Convolutions by fewer multiplications (Winograd): made by td-lower-contractions from td.conv2d and its gradients.
include "passes/exec/algorithm.td"

// Images and kernels of mixed precision are bfloat16. Transforms and sums are float32 in any case.

class Exec_WinogradOp<string mnemonic, list<Trait> traits = []>
    : Exec_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
                                DeclareOpInterfaceMethods<Td_CostOp>]> {
  let hasVerifier = 1;
}

def Exec_WinogradKernelOp : Exec_WinogradOp<"winograd_kernel"> {
  let summary = "a 3x3 kernel transformed for Winograd convolutions";
  let description = [{
    U = G g G^T for every pair of channels, with the matrices of passes/exec/toom_cook.h for output tiles of `tile` x `tile`;
    computed once per step. The layout is that of passes/exec/winograd_shape.h: for each of the (tile + 2)^2 points a matrix
    [channels summed over, channels of the result]. That is [in, out], and with `adjoint` (for the input gradient) [out, in].
    A bfloat16 result makes the products of the op that reads it products of bfloat16 numbers: transformed tiles are rounded too.
    ```mlir
    %u = exec.winograd_kernel %k {tile = 4} : tensor<3x3x32x64xf32> -> tensor<36x2048xf32>
    ```
  }];
  let arguments = (ins Exec_StoredFloatTensor:$kernel, I64Attr:$tile, DefaultValuedAttr<BoolAttr, "false">:$adjoint);
  let results = (outs Exec_StoredFloatTensor:$output);
  let assemblyFormat = "$kernel attr-dict `:` type($kernel) `->` type($output)";
}

def Exec_WinogradConv2DOp : Exec_WinogradOp<"winograd_conv2d", [AttrSizedOperandSegments]> {
  let summary = "3x3 convolution with stride 1 by Winograd's algorithm";
  let description = [{
    `kernel` is transformed. Tiles go through the three stages in blocks of `block`, in the scratch memory that is the second
    result. Adds `bias` (one value per channel) and `residual` (as large as the result) where they are given, and then takes
    the maximum with 0 where `relu` is.
    ```mlir
    %y, %scratch = exec.winograd_conv2d %x, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
        : (tensor<?x13x13x32xf32>, tensor<36x2048xf32>) -> (tensor<?x11x11x64xf32>, tensor<719104xui8>)
    ```
  }];
  let arguments = (ins Exec_StoredFloatTensor:$x, Exec_StoredFloatTensor:$kernel, Optional<Exec_StoredFloatTensor>:$bias,
                       Optional<Exec_StoredFloatTensor>:$residual, I64Attr:$tile, I64Attr:$block, DenseI64ArrayAttr:$pad_low,
                       UnitAttr:$relu);
  let results = (outs Exec_StoredFloatTensor:$output, Exec_Tensor:$scratch);
  let assemblyFormat = "$x `,` $kernel (`,` $bias^)? (`adds` $residual^)? attr-dict `:` functional-type(operands, results)";
}

def Exec_WinogradInputGradOp : Exec_WinogradOp<"winograd_input_grad"> {
  let summary = "gradient of a 3x3 convolution with stride 1 to its input by Winograd's algorithm";
  let description = [{
    The adjoint of exec.winograd_conv2d: tiles of dy are transformed, multiplied by the transformed kernel (`adjoint`) and
    spread into overlapping tiles of dx, which add up in the order of the tiles.
    ```mlir
    %dx, %scratch = exec.winograd_input_grad %dy, %u {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
        : (tensor<?x11x11x64xf32>, tensor<36x2048xf32>) -> (tensor<?x13x13x32xf32>, tensor<719104xui8>)
    ```
  }];
  let arguments = (ins Exec_StoredFloatTensor:$dy, Exec_StoredFloatTensor:$kernel, I64Attr:$tile, I64Attr:$block,
                       DenseI64ArrayAttr:$pad_low);
  let results = (outs Exec_StoredFloatTensor:$dx, Exec_Tensor:$scratch);
  let assemblyFormat = "$dy `,` $kernel attr-dict `:` functional-type(operands, results)";
}

def Exec_WinogradFilterGradOp : Exec_WinogradOp<"winograd_filter_grad"> {
  let summary = "gradient of a 3x3 convolution with stride 1 to its kernel by Winograd's algorithm";
  let description = [{
    A sum over the batch: products of transformed tiles of x and dy add up in the order of the tiles, and the sum is
    transformed back. With `bfloat16_products` transformed tiles are rounded to bfloat16.
    ```mlir
    %dk, %scratch = exec.winograd_filter_grad %x, %dy {tile = 4, block = 36, pad_low = array<i64: 0, 0>}
        : (tensor<?x13x13x32xf32>, tensor<?x11x11x64xf32>) -> (tensor<3x3x32x64xf32>, tensor<1014016xui8>)
    ```
  }];
  let arguments = (ins Exec_StoredFloatTensor:$x, Exec_StoredFloatTensor:$dy, I64Attr:$tile, I64Attr:$block,
                       DenseI64ArrayAttr:$pad_low, UnitAttr:$bfloat16_products);
  let results = (outs Exec_Float32Tensor:$dkernel, Exec_Tensor:$scratch);
  let assemblyFormat = "$x `,` $dy attr-dict `:` functional-type(operands, results)";
}
