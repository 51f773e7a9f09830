// Max and average pooling and their gradients. Images are NHWC.
include "graph/ir/td_base.td"

def Td_WindowIndexTensor : RankedTensorOf<[UI8]>;

class Td_PoolOp<string mnemonic, list<Trait> traits = []>
    : Td_PureOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_ElementalOp>, DeclareOpInterfaceMethods<Td_CostOp>,
        DeclareOpInterfaceMethods<Td_PrecisionOp>]> {
  // A value of PrecisionRule.
  string precision = "kInfer";
  let extraClassDefinition = [{
    ::tandem::td::BatchRule $cppClass::getBatchRule() { return ::tandem::td::BatchRule::kPerExample; }
    ::tandem::td::FusionKind $cppClass::getFusionKind() { return ::tandem::td::FusionKind::kWindow; }
    ::tandem::td::PrecisionRule $cppClass::getPrecisionRule() { return ::tandem::td::PrecisionRule::}] # precision # [{; }
  }];
}

def Td_MaxPoolOp : Td_PoolOp<"max_pool", [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let precision = "kClear";
  let summary = "maximum of every window of an image";
  let description = [{
    Padding never wins; a NaN in a window does. Pads are smaller than the window, so that no window lies outside.
    ```mlir
    %y = td.max_pool %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x28x28x32xf32> -> tensor<?x14x14x32xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = [{
    $x `window` $window `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `->` type($output)
  }];
}

def Td_MaxPoolGradOp : Td_PoolOp<"max_pool_grad"> {
  let precision = "kClear";
  let summary = "gradient of max_pool to its input";
  let description = [{
    The gradient of a window goes to its first maximum in row-major order, found again from x. Compiled programs keep
    the places instead (td.max_pool_argmax).
    ```mlir
    %dx = td.max_pool_grad %x, %dy window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x28x28x32xf32>, tensor<?x14x14x32xf32> -> tensor<?x28x28x32xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, Td_FloatTensor:$dy, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$dx);
  let assemblyFormat = [{
    $x `,` $dy `window` $window `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `,` type($dy) `->` type($dx)
  }];
}

def Td_MaxPoolArgmaxOp : Td_PoolOp<"max_pool_argmax"> {
  let precision = "kClear";
  let summary = "where in every window of an image its first maximum lies";
  let description = [{
    The maximum's number in the window, row-major; 255 stands for none. With `positive` there is none where the maximum
    is not above 0: the gradient of a relu before the pooling. Windows have at most 255 elements.
    ```mlir
    %k = td.max_pool_argmax %x window [2, 2] strides [2, 2] low [0, 0] high [0, 0] {positive = true} : tensor<?x28x28x32xf32> -> tensor<?x14x14x32xui8>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high,
                       DefaultValuedAttr<BoolAttr, "false">:$positive);
  let results = (outs Td_WindowIndexTensor:$output);
  let assemblyFormat = [{
    $x `window` $window `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `->` type($output)
  }];
}

def Td_MaxPoolArgmaxGradOp : Td_PoolOp<"max_pool_argmax_grad"> {
  let precision = "kClear";
  let summary = "gradient of max_pool to its input, from the places of the maxima";
  let description = [{
    What td.max_pool_grad computes, without the image. `size` is the image's height and width.
    ```mlir
    %dx = td.max_pool_argmax_grad %k, %dy size [28, 28] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x14x14x32xui8>, tensor<?x14x14x32xf32> -> tensor<?x28x28x32xf32>
    ```
  }];
  let arguments = (ins Td_WindowIndexTensor:$argmax, Td_FloatTensor:$dy, DenseI64ArrayAttr:$size,
                       DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low,
                       DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$dx);
  let assemblyFormat = [{
    $argmax `,` $dy `size` $size `window` $window `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($argmax) `,` type($dy) `->` type($dx)
  }];
}

def Td_AvgPoolOp : Td_PoolOp<"avg_pool", [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let summary = "mean of every window of an image";
  let description = [{
    As in TensorFlow, the divisor is the number of elements of the window that lie inside the image.
    ```mlir
    %y = td.avg_pool %x window [3, 3] strides [2, 2] low [0, 0] high [1, 1] : tensor<?x28x28x32xf32> -> tensor<?x14x14x32xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$x, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = [{
    $x `window` $window `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($x) `->` type($output)
  }];
}

def Td_AvgPoolGradOp : Td_PoolOp<"avg_pool_grad", [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let summary = "gradient of avg_pool to its input";
  let description = [{
    `size` is the input's height and width, which the strides may leave open.
    ```mlir
    %dx = td.avg_pool_grad %dy size [5, 6] window [2, 2] strides [2, 2] low [0, 0] high [0, 0] : tensor<?x2x3x3xf32> -> tensor<?x5x6x3xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$dy, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high);
  let results = (outs Td_FloatTensor:$dx);
  let assemblyFormat = [{
    $dy `size` $size `window` $window `strides` $strides `low` $pad_low `high` $pad_high attr-dict `:` type($dy) `->` type($dx)
  }];
}
