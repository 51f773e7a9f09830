// Gradients of weights behind the maps that make their operands.
include "passes/exec/algorithm.td"

def Exec_WeightGradOp
    : Exec_PureOp<"weight_grad", [
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_CostOp>]> {
  let summary = "the transposed product of two batched matrices, behind the maps that make them";
  let description = [{
    Computes what td.matmul with `transpose_a` does, in blocks of the result that any thread may take: a lane needs no
    slot of the result's size. `lanes` lanes of `lane_rows` rows each, which the kernel sums up one by one and combines
    in the order of the reduction tree, are known once the op is a kernel; 0 before. Operands may be bfloat16; the
    result is float32. Passes make it; it has no gradient of its own.
    ```mlir
    %dw = exec.weight_grad %x, %dy {lanes = 4 : i64, lane_rows = 32 : i64} : tensor<?x1024xf32>, tensor<?x512xf32> -> tensor<1024x512xf32>
    ```
  }];
  let arguments = (ins Exec_StoredFloatTensor:$x, Exec_StoredFloatTensor:$dy, DefaultValuedAttr<I64Attr, "0">:$lanes,
                       DefaultValuedAttr<I64Attr, "0">:$lane_rows);
  let results = (outs Exec_Float32Tensor:$output);
  let assemblyFormat = "$x `,` $dy attr-dict `:` type($x) `,` type($dy) `->` type($output)";
}

def Exec_Conv2DWeightGradOp
    : Exec_PureOp<"conv2d_weight_grad", [
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_CostOp>]> {
  let summary = "conv2d_filter_grad behind the maps that make its operands";
  let description = [{
    Computes what td.conv2d_filter_grad does, as exec.weight_grad does for matrices: in blocks of the result that any
    thread may take, lane by lane, with the same element types. Passes make it; it has no gradient of its own.
    ```mlir
    %dk = exec.conv2d_weight_grad %x, %dy size [1, 1] strides [1, 1] low [0, 0] high [0, 0] {lanes = 4 : i64, lane_rows = 4 : i64} : tensor<?x7x7x512xf32>, tensor<?x7x7x2048xf32> -> tensor<1x1x512x2048xf32>
    ```
  }];
  let arguments = (ins Exec_StoredFloatTensor:$x, Exec_StoredFloatTensor:$dy, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high, DefaultValuedAttr<I64Attr, "0">:$lanes,
                       DefaultValuedAttr<I64Attr, "0">:$lane_rows);
  let results = (outs Exec_Float32Tensor:$dkernel);
  let assemblyFormat = [{
    $x `,` $dy `size` $size `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `,` type($dy) `->` type($dkernel)
  }];
}
