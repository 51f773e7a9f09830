// Shard maps and collectives.
include "graph/ir/td_base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Td_MapShardsOp : Td_Op<"map_shards", [SingleBlockImplicitTerminator<"::tandem::td::YieldOp">, IsolatedFromAbove]> {
  let summary = "runs a body for every shard of the batch and reduces over the lanes";
  let description = [{
    The body sees the rows of one shard: its arguments have the operands' types, a batched one holds the shard's
    rows. `reduce` says per result how lanes are combined: "sum" or "max" in the order of the reduction tree, or "keep": the result stays batched, shards side by side. `scope` says per result
    whether the value is over the rows of one "replica" or of all replicas ("global"); "keep" results have scope "replica".
    `lanes` counts the lanes of the global batch over all replicas; `rows` is the capacity of a lane and `shard` of a shard.
    ```mlir
    %loss, %dw = td.map_shards (%x, %w : tensor<?x784xf32>, tensor<784x10xf32>) reduce ["sum", "sum"] scope ["global", "global"]
        lanes 16 rows 8 shard 8 -> (tensor<f32>, tensor<784x10xf32>) {
    ^bb0(%xs: tensor<?x784xf32>, %ws: tensor<784x10xf32>):
      ...
      td.yield %l, %d : tensor<f32>, tensor<784x10xf32>
    }
    ```
  }];
  // lanes: of the whole global batch. rows_per_lane, shard_rows: capacities.
  let arguments = (ins Variadic<Td_Tensor>:$operands, StrArrayAttr:$reduce, StrArrayAttr:$scope,
                       I64Attr:$lanes, I64Attr:$rows_per_lane, I64Attr:$shard_rows);
  let results = (outs Variadic<Td_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($operands^ `:` type($operands))? `)` `reduce` $reduce `scope` $scope `lanes` $lanes `rows` $rows_per_lane
    `shard` $shard_rows (`->` `(` type($results)^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Td_AllReduceOp : Td_Op<"all_reduce", [Pure]> {
  let summary = "combines values of all replicas";
  let description = [{
    `kind` is sum, max or mean (over the replicas that had rows). Every replica gets the result.
    `seq` is the position in the one order in which all replicas run their collectives, `group` the replicas that take part;
    collectives of one `bucket` are one transfer.
    ```mlir
    %0, %1 = td.all_reduce "sum" %dw, %loss {bucket = 0, group = array<i64: 0, 1>, seq = 0} : tensor<784x10xf32>, tensor<f32> -> tensor<784x10xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<Td_Tensor>:$operands, StrAttr:$kind, OptionalAttr<I64Attr>:$seq,
                       OptionalAttr<I64Attr>:$bucket, OptionalAttr<DenseI64ArrayAttr>:$group);
  let results = (outs Variadic<Td_Tensor>:$results);
  let assemblyFormat = "$kind $operands attr-dict `:` type($operands) `->` type($results)";
  let hasVerifier = 1;
}

def Td_CrossReplicaOp : Td_Op<"cross_replica", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>]> {
  let summary = "one value for all replicas, from a value that each computes from its own rows";
  let description = [{
    `kind` "sum" makes a gradient of what replicas hold parts of; "mean" (over the replicas that have rows) makes one
    statistic of theirs. Only such a value may be assigned to a variable or be an output. td-insert-all-reduce turns it
    into a td.all_reduce; with one replica (td.replicas of the module) it is its operand.
    ```mlir
    %g = td.cross_replica "sum" %dgamma : tensor<64xf32>
    ```
  }];
  let arguments = (ins Td_ChoiceAttr<["sum", "mean"]>:$kind, Td_FloatTensor:$input);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Td_ReplicaOp : Td_Op<"replica", [Symbol]> {
  let summary = "one replica: a device that runs a step body";
  let description = [{
    Replicas of one class of devices share the body.
    ```mlir
    td.replica @replica_0 device("cpu:0") body(@step)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$device, FlatSymbolRefAttr:$body);
  let assemblyFormat = "$sym_name `device` `(` $device `)` `body` `(` $body `)` attr-dict";
}
