// What ties a graph to its surroundings: variables, inputs, step scalars, outputs.
include "graph/ir/td_base.td"
include "mlir/IR/SymbolInterfaces.td"

def Td_VariableOp : Td_Op<"variable", [Symbol]> {
  let summary = "declares a variable of the model or of its optimizer";
  let description = [{
    Its shape is static. A slot of an optimizer names the variable that it belongs to in `slot_of`. `initializer` is
    [kind, a, b]: [0, 0, 0] zeros, [1, value, 0] constant, [2, low, high] uniform, [3, mean, standard deviation] normal,
    cut at two standard deviations.
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
  let description = [{
    `name` is the dataset's component. Dimension 0 is the batch.
    ```mlir
    %x = td.input "image" : tensor<?x28x28x1xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$name attr-dict `:` type($output)";
}

def Td_ScalarOp : Td_Op<"scalar", [Pure]> {
  let summary = "a scalar that the runtime sets at every step";
  let description = [{
    Of rank 0. "global_step" and "seed" are i64: steps finished before this one, and the seed of the run.
    "example_count" (f32) counts the examples of the global batch, "replica_example_count" (f32) those of the replica,
    and "replica_index" (i32) is the replica's number among those of all processes. Others, such as a learning rate, may
    change from step to step without a new compilation.
    ```mlir
    %s = td.scalar "global_step" : tensor<i64>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$name attr-dict `:` type($output)";
}

def Td_ReadOp : Td_Op<"read", [Pure]> {
  let summary = "a variable's value at the start of the step";
  let description = [{
    An assignment in the same step does not change what is read.
    ```mlir
    %w = td.read @"dense/kernel" : tensor<576x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Td_Tensor:$output);
  let assemblyFormat = "$variable attr-dict `:` type($output)";
}

def Td_AssignOp : Td_Op<"assign"> {
  let summary = "a variable's value from the end of the step on";
  let description = [{
    At most one per variable. The compiler keeps it from happening in a step whose loss or gradients are not finite.
    ```mlir
    td.assign @"dense/kernel", %v : tensor<576x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Td_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Td_CheckFiniteOp : Td_Op<"check_finite"> {
  let summary = "a value without which, finite, no variable changes in this step";
  let description = [{
    td-insert-finite-check adds it to the sums over the batch, which it checks in any case: a gradient or loss may become
    infinite or NaN in what is computed from them.
    ```mlir
    td.check_finite %g : tensor<576x64xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Td_OutputOp : Td_Op<"output"> {
  let summary = "names a value that a run can fetch";
  let description = [{
    ```mlir
    td.output "loss", %l : tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Td_Tensor:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
}
