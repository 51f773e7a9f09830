// Contractions in generated code.
include "mlir/Interfaces/InferTypeOpInterface.td"
include "passes/exec/algorithm.td"
include "passes/exec/attributes.td"

def Exec_ContractionOp : Exec_Op<"contraction", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_ElementalOp>,
    DeclareOpInterfaceMethods<Td_CostOp>]> {
  let summary = "a convolution, or a gradient of weights, in generated code";
  let description = [{
    Computes what the op of td does that `kind` names, by `algorithm`. The result is float32, whatever the operands are.
    `matmul` is the transposed product of two batched matrices, td.matmul with `transpose_a`. Passes make the op; it has
    no gradient of its own.
    - `few_taps`: a part of larger kernels, which compute one element at a time; all taps are written out. A filter
      gradient is a sum over the batch and the pixels of dy, all taps at once: dy is not stored when only this op and
      other such sums need it. dy comes first, because the sum runs over its elements.
    - `low_channel`: a convolution with more taps in a kernel of its own, perhaps with a bias and a relu behind it.
    - `weight_grad_blocks`: behind the maps that make the operands, in blocks of the result that any thread may take: a
      lane needs no slot of the result's size. `lanes` lanes of `lane_rows` rows each, which the kernel sums up one by
      one and combines in the order of the reduction tree, are known once the op is a kernel; 0 before.
    - `filter_grad_tiles`: products of tiles of bfloat16 numbers by a CPU's matrix unit (AMX), which add up in float32.
      x and dy are packed into the scratch memory that is the second result, in the layouts of
      passes/exec/packed_shape.h. Channels are multiples of 16.
    ```mlir
    %y = exec.contraction conv2d %x, %k by few_taps strides [1, 1] low [0, 0] high [0, 0]
        : (tensor<?x28x28x1xf32>, tensor<3x3x1x32xf32>) -> tensor<?x26x26x32xf32>
    %dk = exec.contraction conv2d_filter_grad %dy, %x by few_taps size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
        : (tensor<?x26x26x32xf32>, tensor<?x28x28x1xf32>) -> tensor<3x3x1x32xf32>
    %dw = exec.contraction matmul %x, %dy by weight_grad_blocks {lanes = 4 : i64, lane_rows = 32 : i64}
        : (tensor<?x1024xf32>, tensor<?x512xf32>) -> tensor<1024x512xf32>
    %dk, %scratch = exec.contraction conv2d_filter_grad %x, %dy by filter_grad_tiles
        size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
        : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<78848xui8>)
    ```
  }];
  let arguments = (ins Exec_ContractionKindAttr:$kind, Exec_StoredFloatTensor:$a, Exec_StoredFloatTensor:$b,
                       Exec_AlgorithmAttr:$algorithm, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$size,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pad_low,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pad_high, DefaultValuedAttr<I64Attr, "0">:$lanes,
                       DefaultValuedAttr<I64Attr, "0">:$lane_rows);
  let results = (outs Exec_Float32Tensor:$output, Optional<Exec_Tensor>:$scratch);
  let assemblyFormat = [{
    $kind $a `,` $b `by` $algorithm (`size` $size^)? (`strides` $strides^ `low` $pad_low `high` $pad_high)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    // The values with the shapes of the convolution's (or matrix product's) input, weights and output: operands, or the
    // result.
    ::mlir::Value getX();
    ::mlir::Value getWeights();
    ::mlir::Value getY();
  }];
  let hasVerifier = 1;
}
