// Attention in generated kernels: made by td-lower-attention from td.attention and its gradient.
include "passes/exec/algorithm.td"

class Exec_AttentionFamilyOp<string mnemonic>
    : Exec_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
                         DeclareOpInterfaceMethods<Td_CostOp>]> {
  let hasVerifier = 1;
}

def Exec_AttentionOp : Exec_AttentionFamilyOp<"attention"> {
  let summary = "td.attention by products of a block of queries with all keys";
  let description = [{
    Operands, attributes and results are those of td.attention. The last result is scratch memory, which holds the
    scores of a block of queries for one head of one example (passes/exec/attention_scratch.h).
    ```mlir
    %y, %m, %s, %scratch = exec.attention %q, %k, %v {scale = 5.000000e-01}
        : (tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>) -> (tensor<?x2x5x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<7744xui8>)
    ```
  }];
  let arguments = (ins Exec_Float32Tensor:$query, Exec_Float32Tensor:$key, Exec_Float32Tensor:$value,
                       Optional<RankedTensorOf<[I1]>>:$keep, F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$low,
                       UnitAttr:$causal, UnitAttr:$heads_inside);
  let results = (outs Exec_Float32Tensor:$output, Exec_Float32Tensor:$largest, Exec_Float32Tensor:$sum,
                      Exec_Tensor:$scratch);
  let assemblyFormat = "$query `,` $key `,` $value (`keep` $keep^)? attr-dict `:` functional-type(operands, results)";
}

def Exec_AttentionGradOp : Exec_AttentionFamilyOp<"attention_grad"> {
  let summary = "td.attention_grad by products of a block of queries with all keys";
  let description = [{
    Operands, attributes and results are those of td.attention_grad. Gradients to keys and values add up over blocks of
    queries in their order. The last result is scratch memory.
  }];
  let arguments = (ins Exec_Float32Tensor:$query, Exec_Float32Tensor:$key, Exec_Float32Tensor:$value,
                       Exec_Float32Tensor:$output, Exec_Float32Tensor:$largest, Exec_Float32Tensor:$sum,
                       Exec_Float32Tensor:$dy, Optional<RankedTensorOf<[I1]>>:$keep, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$low, UnitAttr:$causal, UnitAttr:$heads_inside);
  let results = (outs Exec_Float32Tensor:$dquery, Exec_Float32Tensor:$dkey, Exec_Float32Tensor:$dvalue,
                      Exec_Tensor:$scratch);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $output `,` $largest `,` $sum `,` $dy (`keep` $keep^)? attr-dict `:`
    functional-type(operands, results)
  }];
}
