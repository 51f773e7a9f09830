// Reductions over dimensions.
include "graph/ir/attributes.td"
include "graph/ir/td_base.td"

class Td_ReductionOp<string mnemonic, list<Trait> traits = []>
    : Td_PureOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_ElementalOp>, DeclareOpInterfaceMethods<Td_CostOp>]> {
  let extraClassDefinition = [{
    ::tandem::td::FusionKind $cppClass::getFusionKind() { return ::tandem::td::FusionKind::kReduce; }
    int64_t $cppClass::getFlops() { return ::tandem::td::RowElements(getInput().getType()); }
  }];
}

def Td_ReduceOp : Td_ReductionOp<"reduce", [DeclareOpInterfaceMethods<Td_GradientOp>]> {
  let summary = "sum, max, min or prod over some dimensions, which are dropped";
  let description = [{
    Where `axes` (increasing) include the batch, `scope` says whose rows: those of all replicas (global) or those of
    one (replica). The gradient of max and min is shared equally by all elements that reach the extreme; prod has none.
    ```mlir
    %s = td.reduce sum, %x axes [0] : tensor<?x10xf32> -> tensor<10xf32>
    ```
  }];
  let arguments = (ins Td_ReduceKindAttr:$kind, Td_NumericTensor:$input,
                       DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<Td_BatchScopeAttr, "::tandem::td::BatchScope::kGlobal">:$scope);
  let results = (outs Td_NumericTensor:$output);
  let assemblyFormat = "$kind `,` $input `axes` $axes (`scope` $scope^)? attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Td_ArgMaxOp : Td_ReductionOp<"argmax"> {
  let summary = "index of the first largest element along an axis";
  let description = "The axis is dropped.\n```mlir\n%i = td.argmax %x axis 1 : tensor<?x10xf32> -> tensor<?xi64>\n```";
  let arguments = (ins Td_NumericTensor:$input, I64Attr:$axis);
  let results = (outs RankedTensorOf<[I64]>:$output);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($output)";
}
