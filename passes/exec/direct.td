// Convolutions inside generated kernels.
include "passes/exec/algorithm.td"

// Convolutions with few taps per output, which generated kernels compute together with what is around them. Passes
// make them; they have no gradients of their own.
class Exec_DirectOp<string mnemonic>
    : Exec_PureOp<mnemonic, [
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_ElementalOp>, DeclareOpInterfaceMethods<Td_CostOp>]> {
  let extraClassDefinition = [{
    ::tandem::td::FusionKind $cppClass::getFusionKind() { return ::tandem::td::FusionKind::kWindow; }
  }];
}

def Exec_DirectConv2DOp : Exec_DirectOp<"direct_conv2d"> {
  let summary = "conv2d as a part of generated kernels";
  let description = [{
    Computes what td.conv2d does, one element at a time; all taps are written out.
    ```mlir
    %y = exec.direct_conv2d %x, %k strides [1, 1] low [0, 0] high [0, 0] : tensor<?x28x28x1xf32>, tensor<3x3x1x32xf32> -> tensor<?x26x26x32xf32>
    ```
  }];
  let arguments = (ins Exec_FloatTensor:$x, Exec_FloatTensor:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Exec_FloatTensor:$output);
  let assemblyFormat = [{
    $x `,` $kernel `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `,` type($kernel) `->` type($output)
  }];
}

def Exec_DirectConv2DFilterGradOp : Exec_DirectOp<"direct_conv2d_filter_grad"> {
  let summary = "conv2d_filter_grad as a part of generated kernels";
  let description = [{
    A sum over the batch and the pixels of dy, all taps at once: dy is not stored when only this op and other such sums
    need it. dy comes first, because the sum runs over its elements.
    ```mlir
    %dk = exec.direct_conv2d_filter_grad %dy, %x size [3, 3] strides [1, 1] low [0, 0] high [0, 0] : tensor<?x26x26x32xf32>, tensor<?x28x28x1xf32> -> tensor<3x3x1x32xf32>
    ```
  }];
  let arguments = (ins Exec_FloatTensor:$dy, Exec_FloatTensor:$x, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Exec_FloatTensor:$dkernel);
  let assemblyFormat = [{
    $dy `,` $x `size` $size `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($dy) `,` type($x) `->` type($dkernel)
  }];
}
