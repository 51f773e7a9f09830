// What passes and tools may ask of a td op. A pass never switches on op names: it asks one of these interfaces.
#ifndef TANDEM_GRAPH_IR_INTERFACES
#define TANDEM_GRAPH_IR_INTERFACES

include "mlir/IR/OpBase.td"

class Td_Interface<string name> : OpInterface<name> { let cppNamespace = "::tandem::td"; }

def Td_GradientOp : Td_Interface<"GradientOp"> {
  let description = [{An op with a gradient. Ops without it stop the gradient with an error, unless they are
    known not to depend on their operands continuously (`isStop`).}];
  let methods = [
    InterfaceMethod<[{Appends td ops that compute the gradients of the operands from those of the results.
        `result_grads` has a null value for a result that got no gradient (at least one is not null); `operand_grads`
        comes with one null value per operand; leave null what has no gradient (integer operands, masks).}],
      "::llvm::LogicalResult", "buildGradient",
      (ins "::mlir::OpBuilder&":$builder, "::mlir::ValueRange":$result_grads,
           "::llvm::SmallVectorImpl<::mlir::Value>&":$operand_grads)>,
  ];
}

def Td_ReferenceOp : Td_Interface<"ReferenceOp"> {
  let description = "An op that the reference interpreter can evaluate, in double precision: the oracle of all tests.";
  let methods = [
    InterfaceMethod<[{Computes the results. `operands` and `results` have one entry per operand and result; the shape
        and dtype of a result are set by the op. A batch size that no operand carries is `context.batch`.}],
      "::absl::Status", "evaluate",
      (ins "::absl::Span<const ::tandem::td::RefTensor* const>":$operands,
           "const ::tandem::td::RefContext&":$context, "::std::vector<::tandem::td::RefTensor>&":$results)>,
  ];
}

def Td_BatchOp : Td_Interface<"BatchOp"> {
  let description = "How an op treats the batch axis (dimension 0 of a `?x...` operand).";
  let methods = [
    InterfaceMethod<[{Called only when an operand or a result carries the batch.}],
      "::tandem::td::BatchRule", "getBatchRule">,
  ];
}

def Td_ElementalOp : Td_Interface<"ElementalOp"> {
  let description = "An op that can be part of a generated kernel: it can emit one element of a result.";
  let methods = [
    InterfaceMethod<"What a fusion has to know of the op.", "::tandem::td::FusionKind", "getFusionKind">,
    InterfaceMethod<[{Emits arith/math/scf ops that compute the element of result `result` at `indices` (one `index`
        value per dimension) and returns it. Booleans are i1, uint8 is signless i8. An op that reduces over the batch
        (kBatchSum, kBatchMax) emits the contribution of one row: `indices` then starts with that local row, and the
        kernel combines the rows.}],
      "::mlir::Value", "emitElement",
      (ins "::tandem::td::ElementalContext&":$context, "unsigned":$result, "::mlir::ValueRange":$indices)>,
  ];
}

def Td_LibraryOp : Td_Interface<"LibraryOp"> {
  let description = "An op for which a kernel library has a primitive (convolution, matmul).";
  let methods = [
    InterfaceMethod<"The values and parameters that a call of the primitive has.", "::tandem::td::LibraryCallSpec",
      "getLibraryCallSpec">,
  ];
}

def Td_DecomposeOp : Td_Interface<"DecomposeOp"> {
  let description =
    "A composite op that falls apart into elementwise ops and reductions before microbatch maps are formed.";
  let methods = [
    InterfaceMethod<"Appends the simpler ops; fills `results` with one value per result.", "void", "decompose",
      (ins "::mlir::OpBuilder&":$builder, "::llvm::SmallVectorImpl<::mlir::Value>&":$results)>,
  ];
}

def Td_CostOp : Td_Interface<"CostOp"> {
  let description = "Arithmetic cost, for schedules, thresholds and reports.";
  let methods = [
    InterfaceMethod<"Floating-point operations for one batch row (for a batched op) or for one run.",
      "int64_t", "getFlops">,
  ];
}

def Td_TiedOp : Td_Interface<"TiedOp"> {
  let description = "An op that may write a result over an operand (optimizer updates).";
  let methods = [
    InterfaceMethod<"The operand that result `result` may overwrite, or -1.", "int", "getTiedOperand",
      (ins "unsigned":$result)>,
  ];
}

def Td_PrecisionOp : Td_Interface<"PrecisionOp"> {
  let description = [{How td-paint-precision treats the op where float32 may become bfloat16. An op without this
    interface keeps float32.}];
  let methods = [
    InterfaceMethod<"The op's list, unless the user moves it to another one.", "::tandem::td::PrecisionRule",
      "getPrecisionRule">,
    InterfaceMethod<[{Makes the op give float32 results, not rounded, from bfloat16 operands; false when it cannot.
        The caller sets the types of the results.}],
      "bool", "useFloat32Results", (ins), "", "return false;">,
  ];
}

def Td_ReplicaValueOp : Td_Interface<"ReplicaValueOp"> {
  let description = "An op that decides by itself whether replicas hold different values of a result without batch.";
  let methods = [
    InterfaceMethod<"Whether result `result` is made of the rows of one replica (graph/ir/replica_values.h).", "bool",
      "variesByReplica", (ins "unsigned":$result)>,
  ];
}

#endif
