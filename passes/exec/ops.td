// Ops of the exec dialect: the map over microbatches, launches of kernels, library calls, collectives.
include "graph/ir/attributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "passes/exec/algorithm.td"
include "passes/exec/attributes.td"
include "passes/exec/command.td"

def Exec_CombineArrayAttr : TypedArrayAttrBase<Exec_CombineAttr, "array of combinations">;
def Exec_ScopeArrayAttr : TypedArrayAttrBase<Td_BatchScopeAttr, "array of scopes">;

def Exec_MapMicrobatchesOp : Exec_Op<"map_microbatches", [
    SingleBlockImplicitTerminator<"::tandem::exec::YieldOp">, IsolatedFromAbove,
    DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_ReplicaValueOp>]> {
  let summary = "runs a body for every microbatch and combines its results over the lanes";
  let description = [{
    The body sees the rows of one microbatch: its arguments have the operands' types, a batched one holds the
    microbatch's rows. `reduce` says per result how lanes are combined: sum or max in the order of the reduction tree,
    or keep: the result stays batched, microbatches side by side. `scope` says per result whether the value is over the
    rows of one replica or of all replicas (global); keep has scope replica.
    `lanes` counts the lanes of the global batch over all replicas; `rows` is the capacity of a lane and `microbatch` of
    a microbatch.
    ```mlir
    %loss, %dw = exec.map_microbatches (%x, %w : tensor<?x784xf32>, tensor<784x10xf32>) reduce [sum, sum]
        scope [global, global] lanes 16 rows 8 microbatch 8 -> (tensor<f32>, tensor<784x10xf32>) {
    ^bb0(%xs: tensor<?x784xf32>, %ws: tensor<784x10xf32>):
      ...
      exec.yield %l, %d : tensor<f32>, tensor<784x10xf32>
    }
    ```
  }];
  // lanes: of the whole global batch. rows_per_lane, microbatch_rows: capacities.
  let arguments = (ins Variadic<Exec_Tensor>:$operands, Exec_CombineArrayAttr:$reduce, Exec_ScopeArrayAttr:$scope,
                       I64Attr:$lanes, I64Attr:$rows_per_lane, I64Attr:$microbatch_rows);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($operands^ `:` type($operands))? `)` `reduce` custom<Combines>($reduce) `scope` custom<Scopes>($scope)
    `lanes` $lanes `rows` $rows_per_lane `microbatch` $microbatch_rows (`->` `(` type($results)^ `)`)?
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    Combine getCombine(unsigned result) { return ::mlir::cast<CombineAttr>(getReduce()[result]).getValue(); }
    td::BatchScope getScopeOf(unsigned result) {
      return ::mlir::cast<td::BatchScopeAttr>(getScope()[result]).getValue();
    }
  }];
  let hasVerifier = 1;
}

def Exec_YieldOp : Exec_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"MapMicrobatchesOp">]> {
  let summary = "ends the body of a map with its results";
  let description = [{
    ```mlir
    exec.yield %loss, %dw : tensor<f32>, tensor<784x10xf32>
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Exec_LaunchOp : Exec_Op<"launch", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["getLaunchedKernel", "getElementsTouched", "isListable"]>]> {
  let summary = "runs an outlined kernel";
  let description = [{
    The kernel is a private func.func with the attribute `exec.kernel`, its kind. Operand and result shapes agree with
    the kernel's type, except that a `flat` kernel takes any number of elements.
    ```mlir
    %y = exec.launch @kernel_3(%a, %b) : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Tensor>:$operands);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let assemblyFormat = "$kernel `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
  let extraClassDeclaration = [{
    // The kind of the kernel; kOnce of a function that has none.
    KernelKind getKernelKind();
  }];
}

def Exec_GroupedLaunchOp : Exec_Op<"grouped_launch", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["getLaunchedKernel", "getLaunchedMembers", "getElementsTouched", "isListable", "getListedCalls"]>]> {
  let summary = "runs one flat kernel for many sets of operands (optimizer updates)";
  let description = [{
    Member i takes operands [i * n, (i + 1) * n) and gives results [i * m, (i + 1) * m), for a kernel with n operands and
    m results.
    ```mlir
    %0, %1 = exec.grouped_launch @sgd x 2(%w0, %g0, %w1, %g1)
        : (tensor<4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4xf32>, tensor<6xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$members, Variadic<Exec_Tensor>:$operands);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let assemblyFormat = "$kernel `x` $members `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

def Exec_LibraryCallOp : Exec_Op<"library_call", [Pure,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["getOperandInPlace", "getElementsTouched"]>]> {
  let summary = "a primitive of a kernel library, with its epilogue";
  let description = [{
    Operands and results are those of the operation's table in runtime/format/index.td. `by`: the algorithm; `as`:
    what the library calls it; `tf32`: float32 operands may be rounded to TensorFloat-32.
    ```mlir
    %y = exec.library_call(%x, %w) #exec.matmul<a_shape = [8, 64], b_shape = [64, 10], y_shape = [8, 10]>
        by unpacked_gemm as "unpacked_gemm" : (tensor<?x64xf32>, tensor<64x10xf32>) -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins
    AnyAttrOf<[Exec_Conv2DAttr, Exec_MatMulAttr, Exec_BatchMatMulAttr, Exec_PackWeightsAttr]>:$call,
    Variadic<Exec_Tensor>:$operands, Exec_AlgorithmAttr:$algorithm, OptionalAttr<StrAttr>:$implementation, UnitAttr:$tf32);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let assemblyFormat = [{
    `(` $operands `)` $call `by` $algorithm (`as` $implementation^)? (`tf32` $tf32^)? attr-dict
    `:` functional-type($operands, $results)
  }];
  let extraClassDeclaration = [{
    // Null for none.
    EpilogueAttr getEpilogue();
  }];
}

def Exec_LaneReduceOp : Exec_Op<"lane_reduce", [Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["getElementsTouched", "isListable", "getListedCalls"]>]> {
  let summary = "combines the lanes' slots in the order of the reduction tree";
  let description = [{
    The operands are results of a map that this op stands right behind, one slot for each lane of the replica; before
    phase `commands` a map's results stand for what they are combined to.
    ```mlir
    %dw = exec.lane_reduce sum %0#1 : tensor<784x10xf32> -> tensor<784x10xf32>
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$operands, Exec_ReduceKindAttr:$kind);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let assemblyFormat = "$kind $operands attr-dict `:` type($operands) `->` type($results)";
}

def Exec_AllReduceOp : Exec_Op<"all_reduce", [
    Pure, DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_ReplicaValueOp>,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["getOperandInPlace", "getElementsTouched", "isListable"]>]> {
  let summary = "combines values of all replicas";
  let description = [{
    `kind` is sum, max or mean (over the replicas that had rows). Every replica gets the result.
    `seq` is the position in the one order in which all replicas run their collectives, `group` the replicas that take
    part; collectives of one `bucket` are one transfer. `algorithm` is the name of cross-device ops that are used in place
    of the reduction tree (base/cross_device_ops.h). `names` says for dumps and errors what each operand is. `checks`: it
    looks for values that are not finite in its results, for the exec.check_finite that reads them.
    ```mlir
    %0, %1 = exec.all_reduce sum %dw, %loss
        {bucket = 0, group = array<i64: 0, 1>, names = ["gradient of dense/kernel", "loss/Sum"], seq = 0}
        : tensor<784x10xf32>, tensor<f32> -> tensor<784x10xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$operands, Exec_ReduceKindAttr:$kind, OptionalAttr<I64Attr>:$seq,
                       OptionalAttr<I64Attr>:$bucket, OptionalAttr<DenseI64ArrayAttr>:$group,
                       OptionalAttr<StrAttr>:$algorithm, OptionalAttr<StrArrayAttr>:$names, UnitAttr:$checks);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let assemblyFormat = "$kind $operands attr-dict `:` type($operands) `->` type($results)";
  let hasVerifier = 1;
}

def Exec_CheckFiniteOp : Exec_Op<"check_finite", [DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["mayEndStep", "getElementsTouched", "isListable", "getListedCalls"]>]> {
  let summary = "fails the step when a value is not finite";
  let description = [{
    No variable changes in a step that failed: every update comes after the check.
    ```mlir
    exec.check_finite %loss, %dw : tensor<f32>, tensor<784x10xf32>
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Exec_CopyOp : Exec_Op<"copy", [
    Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<Td_ReferenceOp>,
    DeclareOpInterfaceMethods<Td_BatchOp>,
    DeclareOpInterfaceMethods<Exec_CommandOp, ["isListable"]>]> {
  let summary = "the same value in a buffer of its own";
  let description = "Inserted by td-insert-copies, where a value is wanted in a place that its producer cannot write.";
  let arguments = (ins Exec_Tensor:$input);
  let results = (outs Exec_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Exec_ReplicaOp : Exec_Op<"replica", [Symbol]> {
  let summary = "one replica: a device that runs a step body";
  let description = [{
    Replicas of one class of devices share the body.
    ```mlir
    exec.replica @replica_0 device("cpu:0") body(@step)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$device, FlatSymbolRefAttr:$body);
  let assemblyFormat = "$sym_name `device` `(` $device `)` `body` `(` $body `)` attr-dict";
}
