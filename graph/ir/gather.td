// Rows by index.
include "graph/ir/td_base.td"

def Td_GatherOp : Td_Op<"gather", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>, DeclareOpInterfaceMethods<Td_GradientOp>,
    DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>,
    DeclareOpInterfaceMethods<Td_ElementalOp>]> {
  let summary = "rows of `params` by index";
  let description = [{
    Element [i..., j...] is params[indices[i...], j...]. For an index out of range it is NaN in generated code, so that
    the finite check finds the op; of integers it is the nearest row's. The interpreter reports such an index, and so
    does the estimator for indices that are an input.
    ```mlir
    %e = td.gather %table, %ids : (tensor<1000x16xf32>, tensor<?x7xi64>) -> tensor<?x7x16xf32>
    ```
  }];
  let arguments = (ins Td_Tensor:$params, Td_IntTensor:$indices);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$params `,` $indices attr-dict `:` functional-type(operands, $output)";
}

def Td_ScatterAddOp : Td_Op<"scatter_add", [
    Pure, DeclareOpInterfaceMethods<Td_GradientOp>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Td_BatchOp>]> {
  let summary = "adds rows of `updates` into zeros by index: the gradient of gather";
  let description = [{
    Row n of the result is the sum of the updates[i...] with indices[i...] = n; an index out of range adds nothing. It is
    a command of its own, once per device and behind the map that makes the updates: a lane touches few rows of a large
    table, and a slot of the table's size per lane would cost more than the command. Sums follow the reduction tree.
    ```mlir
    %d = td.scatter_add %dy, %ids : (tensor<?x7x16xf32>, tensor<?x7xi64>) -> tensor<1000x16xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$updates, Td_IntTensor:$indices);
  let results = (outs Td_FloatTensor:$output);
  let assemblyFormat = "$updates `,` $indices attr-dict `:` functional-type(operands, $output)";
  let hasVerifier = 1;
}
