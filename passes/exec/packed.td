// Convolutions by a CPU's matrix unit (AMX): made by td-lower-contractions from td.conv2d's gradients.
include "passes/exec/algorithm.td"

def Exec_PackedFilterGradOp : Exec_Op<"packed_filter_grad", [
  Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
  DeclareOpInterfaceMethods<Td_CostOp>
]> {
  let summary = "gradient of a convolution to its kernel by products of tiles of bfloat16 numbers";
  let description = [{
    A sum over the batch and the pixels. `x` and `dy` are packed into the scratch memory that is the second result, in
    the layouts of passes/exec/packed_shape.h; products of pairs of pixels add up in float32. Channels are multiples of 16.
    ```mlir
    %dk, %scratch = exec.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, strides = array<i64: 1, 1>, pad_low = array<i64: 0, 0>}
        : (tensor<?x13x13x32xbf16>, tensor<?x11x11x64xbf16>) -> (tensor<3x3x32x64xf32>, tensor<78848xui8>)
    ```
  }];
  let arguments = (ins RankedTensorOf<[BF16]>:$x, RankedTensorOf<[BF16]>:$dy, DenseI64ArrayAttr:$size,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low);
  let results = (outs RankedTensorOf<[F32]> : $dkernel, Exec_Tensor : $scratch);
  let assemblyFormat = "$x `,` $dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
