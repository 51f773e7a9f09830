// Optimizer updates: new values of a variable and its slots, element by element.
include "graph/ir/td_base.td"

// All tensors have one static shape; `lr` is a scalar of the same element type.
class Td_UpdateOp<string mnemonic> : Td_PureOp<mnemonic, [
    DeclareOpInterfaceMethods<Td_ReferenceOp>, DeclareOpInterfaceMethods<Td_BatchOp>, DeclareOpInterfaceMethods<Td_ElementalOp>,
    DeclareOpInterfaceMethods<Td_TiedOp>, DeclareOpInterfaceMethods<Td_CostOp>]> {
  // Slots between the variable and the gradient.
  int slots = 0;
  let extraClassDeclaration = "static constexpr int kSlots = " # slots # ";";
  let extraClassDefinition = [{
    ::tandem::td::BatchRule $cppClass::getBatchRule() { return ::tandem::td::BatchRule::kPerExample; }
    ::tandem::td::FusionKind $cppClass::getFusionKind() { return ::tandem::td::FusionKind::kElementwise; }
    int $cppClass::getTiedOperand(unsigned result) { return static_cast<int>(result); }
    int64_t $cppClass::getFlops() { return 4 * ::tandem::td::RowElements(getVar().getType()); }
  }];
}

def Td_ApplySgdOp : Td_UpdateOp<"apply_sgd"> {
  let summary = "var' = var - lr grad";
  let description = [{
    ```mlir
    %new_var = td.apply_sgd %var, %grad, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Td_FloatTensor:$var, Td_FloatTensor:$grad, Td_FloatTensor:$lr);
  let results = (outs Td_FloatTensor:$new_var);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Td_ApplyMomentumOp : Td_UpdateOp<"apply_momentum"> {
  let summary = "accum' = momentum accum + grad; var' = var - lr accum' (nesterov: var - lr (grad + momentum accum'))";
  let description = [{
    TensorFlow's formula: the learning rate is not part of the accumulator.
    ```mlir
    %new_var, %new_accum = td.apply_momentum %var, %accum, %grad, %lr {momentum = 0.9}
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let slots = 1;
  let arguments = (ins Td_FloatTensor:$var, Td_FloatTensor:$accum, Td_FloatTensor:$grad, Td_FloatTensor:$lr,
                       F64Attr:$momentum, DefaultValuedAttr<BoolAttr, "false">:$nesterov);
  let results = (outs Td_FloatTensor:$new_var, Td_FloatTensor:$new_accum);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Td_ApplyAdamOp : Td_UpdateOp<"apply_adam"> {
  let summary = "m' = b1 m + (1 - b1) g; v' = b2 v + (1 - b2) g^2; var' = var - lr m' / (sqrt(v') + epsilon)";
  let description = [{
    `lr` already holds the bias correction: learning rate * sqrt(1 - b2^t) / (1 - b1^t) in step t. Source: Kingma and Ba
    2014, the form before section 2.1.
    ```mlir
    %new_var, %new_m, %new_v = td.apply_adam %var, %m, %v, %grad, %lr {beta1 = 0.9, beta2 = 0.999, epsilon = 1.0e-8}
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let slots = 2;
  let arguments = (ins Td_FloatTensor:$var, Td_FloatTensor:$m, Td_FloatTensor:$v, Td_FloatTensor:$grad, Td_FloatTensor:$lr,
                       F64Attr:$beta1, F64Attr:$beta2, F64Attr:$epsilon);
  let results = (outs Td_FloatTensor:$new_var, Td_FloatTensor:$new_m, Td_FloatTensor:$new_v);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Td_ApplyRmsPropOp : Td_UpdateOp<"apply_rmsprop"> {
  let summary = "ms' = rho ms + (1 - rho) g^2; var' = var - lr g / (sqrt(ms') + epsilon)";
  let description = "Keras' formula without momentum.";
  let slots = 1;
  let arguments = (ins Td_FloatTensor:$var, Td_FloatTensor:$ms, Td_FloatTensor:$grad, Td_FloatTensor:$lr, F64Attr:$rho,
                       F64Attr:$epsilon);
  let results = (outs Td_FloatTensor:$new_var, Td_FloatTensor:$new_ms);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Td_ApplyRmsPropMomentumOp : Td_UpdateOp<"apply_rmsprop_momentum"> {
  let summary = "apply_rmsprop with a' = momentum a + lr g / (sqrt(ms') + epsilon); var' = var - a'";
  let description = [{
    Keras' formula with momentum; a is the operand `accum`.
  }];
  let slots = 2;
  let arguments = (ins Td_FloatTensor:$var, Td_FloatTensor:$ms, Td_FloatTensor:$accum, Td_FloatTensor:$grad, Td_FloatTensor:$lr,
                       F64Attr:$rho, F64Attr:$momentum, F64Attr:$epsilon);
  let results = (outs Td_FloatTensor:$new_var, Td_FloatTensor:$new_ms, Td_FloatTensor:$new_accum);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
