// Attention whose scores are in memory for some queries at a time only: made by td-form-attention.
include "graph/ir/td_base.td"

class Td_AttentionFamilyOp<string mnemonic>
    : Td_PureOp<mnemonic, [
        DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
        DeclareOpInterfaceMethods<Td_CostOp>,
        DeclareOpInterfaceMethods<Td_PrecisionOp>]>;

// Queries, keys and values, and what is made like them.
def Td_AttentionRows : RankedTensorOf<[F32, BF16]>;
def Td_AttentionStatistic : RankedTensorOf<[F32]>;

def Td_AttentionOp : Td_AttentionFamilyOp<"attention"> {
  let summary = "mixtures of values by the softmax of scaled products of queries and keys";
  let description = [{
    softmax(scale * query key^T) value for every head (Vaswani et al. 2017). Queries are [b, queries, heads, size] with
    `heads_inside`, as dense layers give them, else [b, heads, queries, size]; keys and values lie alike. With `causal`
    a query does not attend to later positions. Where `keep`, [b, keys] or [b, queries, keys], is false, the score is
    `low`, whatever query and key are; with `keep` so are those of later positions, and without it their weights are 0.

    The other results are the largest score of every query and the sum of exp(score - largest) over its keys, from which
    td.attention_grad computes the weights again: float32 in any case. The rows are all float32 or all bfloat16. With
    `tf32` products may round float32 factors to TensorFloat-32.
    ```mlir
    %y, %m, %s = td.attention %q, %k, %v {scale = 1.250000e-01, heads_inside}
        : (tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>) -> (tensor<?x128x4x64xf32>, tensor<?x4x128xf32>, tensor<?x4x128xf32>)
    ```
  }];
  let arguments = (ins Td_AttentionRows:$query, Td_AttentionRows:$key, Td_AttentionRows:$value,
                       Optional<Td_BoolTensor>:$keep, F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$low,
                       UnitAttr:$causal, UnitAttr:$heads_inside, UnitAttr:$tf32);
  let results = (outs Td_AttentionRows:$output, Td_AttentionStatistic:$largest, Td_AttentionStatistic:$sum);
  let assemblyFormat = "$query `,` $key `,` $value (`keep` $keep^)? attr-dict `:` functional-type(operands, results)";
}

def Td_AttentionGradOp : Td_AttentionFamilyOp<"attention_grad"> {
  let summary = "gradients of td.attention to queries, keys and values";
  let description = [{
    `dy` is the gradient of `output`; `largest` and `sum` are the other results of td.attention. Weights P are computed
    again, and with dP = dy value^T and D, the sum of dy * output of a query, gradients of scores are P (dP - D) (Dao et
    al. 2022, algorithm 4), and 0 where `keep` is false.
    ```mlir
    %dq, %dk, %dv = td.attention_grad %q, %k, %v, %y, %m, %s, %dy {scale = 1.250000e-01, heads_inside}
        : (tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>, tensor<?x4x128xf32>, tensor<?x4x128xf32>, tensor<?x128x4x64xf32>)
        -> (tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>, tensor<?x128x4x64xf32>)
    ```
  }];
  let arguments = (ins Td_AttentionRows:$query, Td_AttentionRows:$key, Td_AttentionRows:$value,
                       Td_AttentionRows:$output, Td_AttentionStatistic:$largest, Td_AttentionStatistic:$sum,
                       Td_AttentionRows:$dy, Optional<Td_BoolTensor>:$keep, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$low, UnitAttr:$causal, UnitAttr:$heads_inside, UnitAttr:$tf32);
  let results = (outs Td_AttentionRows:$dquery, Td_AttentionRows:$dkey, Td_AttentionRows:$dvalue);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $output `,` $largest `,` $sum `,` $dy (`keep` $keep^)? attr-dict `:`
    functional-type(operands, results)
  }];
}
