// Ops that move elements: broadcast, reshape, transpose, slice, pad, concat, gather, one_hot, iota, constant. Every
// one of them keeps the batch, where there is one, as dimension 0.
include "graph/ir/td_base.td"

// An index map; its result type is either inferred or stated.
class Td_ShapeOp<string mnemonic, list<Trait> traits = []>
    : Td_Op<mnemonic, traits # [
        Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_ElementalOp>, DeclareOpInterfaceMethods<Td_PrecisionOp>]> {
  // A value of PrecisionRule.
  string precision = "kClear";
  let extraClassDefinition = [{
    ::tandem::td::BatchRule $cppClass::getBatchRule() { return ::tandem::td::BatchRule::kPerExample; }
    ::tandem::td::FusionKind $cppClass::getFusionKind() { return ::tandem::td::FusionKind::kInjective; }
    ::tandem::td::PrecisionRule $cppClass::getPrecisionRule() { return ::tandem::td::PrecisionRule::}] # precision # [{; }
  }];
}

def Td_ConstantOp : Td_ShapeOp<"constant", [ConstantLike, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let precision = "kDeny";
  let summary = "a constant tensor";
  let description = "```mlir\n%c = td.constant dense<[1.0, 2.0]> : tensor<2xf32>\n```";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Td_IotaOp : Td_ShapeOp<"iota"> {
  let precision = "kDeny";
  let summary = "every element is its index along one axis";
  let description = [{
    Along the batch it is the row in the global batch.
    ```mlir
    %i = td.iota axis 1 : tensor<?x10xi64>
    ```
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Td_NumericTensor:$output);
  let assemblyFormat = "`axis` $axis attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Td_BroadcastOp : Td_ShapeOp<"broadcast", [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let summary = "repeats a tensor along new dimensions";
  let description = [{
    Dimension i of the operand is dimension dims[i] of the result, of the same size; `dims` increases. The result may gain
    the batch.
    ```mlir
    %y = td.broadcast %bias dims [3] : tensor<32xf32> -> tensor<?x26x26x32xf32>
    ```
  }];
  let arguments = (ins Td_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Td_ReshapeOp : Td_ShapeOp<"reshape", [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let summary = "the same elements in row-major order under another shape";
  let description = "```mlir\n%y = td.reshape %x : tensor<?x5x5x64xf32> -> tensor<?x1600xf32>\n```";
  let arguments = (ins Td_Tensor:$input);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Td_TransposeOp : Td_ShapeOp<"transpose", [
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "permutes dimensions: dimension i of the result is dimension permutation[i] of the operand";
  let description = "```mlir\n%y = td.transpose %x perm [0, 2, 1] : tensor<?x3x4xf32> -> tensor<?x4x3xf32>\n```";
  let arguments = (ins Td_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input `perm` $permutation attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}

def Td_SliceOp : Td_ShapeOp<"slice", [
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a box of a tensor";
  let description = [{
    A size of -1 takes all from `begin`; the batch has begin 0 and size -1.
    ```mlir
    %y = td.slice %x begin [0, 1] size [-1, 2] : tensor<?x4xf32> -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Td_Tensor:$input, DenseI64ArrayAttr:$begin, DenseI64ArrayAttr:$size);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input `begin` $begin `size` $size attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}

def Td_PadOp : Td_ShapeOp<"pad", [
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "adds elements of one value around a tensor";
  let description = "`low` and `high` count the elements per dimension, none along the batch.\n```mlir\n%y = td.pad %x low [0, 1] high [0, 1] : tensor<?x4xf32> -> tensor<?x6xf32>\n```";
  let arguments = (ins Td_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input `low` $low `high` $high (`value` $value^)? attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}

def Td_ConcatOp : Td_ShapeOp<"concat", [
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "tensors side by side along one axis";
  let description = "```mlir\n%z = td.concat %x, %y axis 1 : (tensor<?x4xf32>, tensor<?x2xf32>) -> tensor<?x6xf32>\n```";
  let arguments = (ins Variadic<Td_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type($inputs, $output)";
  let hasFolder = 1;
}

def Td_OneHotOp : Td_ShapeOp<"one_hot"> {
  let precision = "kDeny";
  let summary = "1 at the position that the index names along a new last dimension, 0 elsewhere";
  let description = [{
    An index outside of the dimension gives zeros.
    ```mlir
    %y = td.one_hot %label : tensor<?xi64> -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins Td_IntTensor:$indices);
  let results = (outs Td_NumericTensor:$output);
  let assemblyFormat = "$indices attr-dict `:` type($indices) `->` type($output)";
  let hasVerifier = 1;
}
