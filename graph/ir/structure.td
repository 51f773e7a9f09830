// Kernels, launches and checks: what the later phases are made of.
include "graph/ir/td_base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Td_YieldOp : Td_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a td region with its results";
  let description = [{
    ```mlir
    td.yield %loss, %dw : tensor<f32>, tensor<784x10xf32>
    ```
  }];
  let arguments = (ins Variadic<Td_Tensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Td_LaunchOp : Td_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an outlined kernel";
  let description = [{
    The kernel is a private func.func with the attribute `td.kernel`. Operand and result shapes agree with the kernel's
    type, except that a `flat` kernel takes any number of elements.
    ```mlir
    %y = td.launch @kernel_3(%a, %b) : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Td_Tensor>:$operands);
  let results = (outs Variadic<Td_Tensor>:$results);
  let assemblyFormat = "$kernel `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

def Td_LibraryCallOp : Td_Op<"library_call", [Pure]> {
  let summary = "a primitive of a kernel library, with its epilogue";
  let description = [{
    `primitive` is conv2d, conv2d_input_grad, conv2d_filter_grad, matmul or pack_weights; operands, results, shapes and flags
    are those of LibraryCall in runtime/executable.fbs. Sizes are for a full shard.
    ```mlir
    %y = td.library_call "conv2d" (%x, %w, %b) {config = {epilogue = "bias_relu", packed, ...}} : (...) -> tensor<?x11x11x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$primitive, Variadic<Td_Tensor>:$operands, DictionaryAttr:$config);
  let results = (outs Variadic<Td_Tensor>:$results);
  let assemblyFormat = "$primitive `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

def Td_CheckFiniteOp : Td_Op<"check_finite"> {
  let summary = "fails the step when a value is not finite";
  let description = [{
    No variable changes in a step that failed: every update comes after the check.
    ```mlir
    td.check_finite %loss, %dw : tensor<f32>, tensor<784x10xf32>
    ```
  }];
  let arguments = (ins Variadic<Td_Tensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Td_GroupedLaunchOp : Td_Op<"grouped_launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs one flat kernel for many sets of operands (optimizer updates)";
  let description = [{
    Member i takes operands [i * n, (i + 1) * n) and gives results [i * m, (i + 1) * m), for a kernel with n operands and m
    results.
    ```mlir
    %0, %1 = td.grouped_launch @sgd x 2(%w0, %g0, %w1, %g1)
        : (tensor<4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4xf32>, tensor<6xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$members, Variadic<Td_Tensor>:$operands);
  let results = (outs Variadic<Td_Tensor>:$results);
  let assemblyFormat = "$kernel `x` $members `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

def Td_CopyOp : Td_Op<"copy", [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<Td_BatchOp>]> {
  let summary = "the same value in a buffer of its own";
  let description = "Inserted when buffers are assigned, where a value is wanted in a place that its producer cannot write.";
  let arguments = (ins Td_Tensor:$input);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
