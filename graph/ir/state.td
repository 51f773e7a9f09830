// What ties a graph to its surroundings: variables, inputs, step scalars, outputs.
include "graph/ir/td_base.td"
include "mlir/IR/SymbolInterfaces.td"

def Td_VariableOp : Td_Op<"variable", [Symbol]> {
  let summary = "declares a variable of the model or of its optimizer";
  let description = [{
    `initializer` is [kind, a, b] as in graph/graph_builder.h's Initializer.
    ```mlir
    td.variable @"dense/kernel" : tensor<576x64xf32> {initializer = [2, -0.1, 0.1], trainable}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, UnitAttr:$trainable,
                       OptionalAttr<StrAttr>:$slot_of, OptionalAttr<F64ArrayAttr>:$initializer);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Td_InputOp : Td_Op<"input", [Pure]> {
  let summary = "the batch that the input_fn yields under a name";
  let arguments = (ins StrAttr:$name);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$name attr-dict `:` type($output)";
}

def Td_ScalarOp : Td_Op<"scalar", [Pure]> {
  let summary = "a scalar that the runtime sets at every step";
  let arguments = (ins StrAttr:$name);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$name attr-dict `:` type($output)";
}

def Td_ReadOp : Td_Op<"read", [Pure]> {
  let summary = "a variable's value at the start of the step";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$variable attr-dict `:` type($output)";
}

def Td_AssignOp : Td_Op<"assign"> {
  let summary = "a variable's value from the end of the step on";
  let arguments = (ins FlatSymbolRefAttr:$variable, Td_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Td_OutputOp : Td_Op<"output"> {
  let summary = "names a value that a run can fetch";
  let arguments = (ins StrAttr:$name, Td_Tensor:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
}
