// What replicas agree on.
include "graph/ir/attributes.td"
include "graph/ir/td_base.td"

def Td_CrossReplicaOp : Td_Op<"cross_replica", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Td_ReplicaValueOp>]> {
  let summary = "one value for all replicas, from a value that each computes from its own rows";
  let description = [{
    `kind` sum makes a gradient of what replicas hold parts of; mean (over the replicas that have rows) makes one
    statistic of theirs. Only such a value may be assigned to a variable or be an output. td-insert-all-reduce turns it
    into an all-reduce; with one replica it is its operand.
    ```mlir
    %g = td.cross_replica sum %dgamma : tensor<64xf32>
    ```
  }];
  let arguments = (ins Td_CrossReplicaKindAttr:$kind, Td_FloatTensor:$input);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
  let hasVerifier = 1;
}
