#include "passes/phases/distribute/update_flow.h"

#include "graph/ir/signature.h"
#include "graph/ir/state.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

// Returns the trainable variable that is trained by an update of `variable`: itself, or, for a slot, the slot's
// variable; "" if there is none.
std::string TrainableOf(mlir::FlatSymbolRefAttr variable, mlir::Operation* from) {
  auto declared = mlir::SymbolTable::lookupNearestSymbolFrom<td::VariableOp>(from, variable);
  if (!declared) return "";
  return declared.getTrainable() ? variable.getValue().str() : declared.getSlotOf().value_or("").str();
}

// True if td.check_finite is the user: it does not pass the numbers on.
bool IsOnlyChecked(mlir::OpOperand& use) {
  auto step = mlir::dyn_cast<mlir::func::FuncOp>(use.getOwner()->getParentOp());
  return step && mlir::isa<mlir::func::ReturnOp>(use.getOwner()) && td::IsChecked(step, use.getOperandNumber());
}

bool HasElements(mlir::Value value, int64_t elements) {
  auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  return type.hasStaticShape() && type.getNumElements() == elements;
}

}  // namespace

mlir::FlatSymbolRefAttr UpdateBy(mlir::OpOperand& use) {
  auto step = mlir::dyn_cast<mlir::func::FuncOp>(use.getOwner()->getParentOp());
  const bool returned = step && mlir::isa<mlir::func::ReturnOp>(use.getOwner());
  return returned ? td::UpdateOf(step, use.getOperandNumber()) : mlir::FlatSymbolRefAttr();
}

UpdateFlow UpdateFlowOf(mlir::Value value) {
  const int64_t elements = mlir::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
  UpdateFlow flow;
  bool elsewhere = false;
  llvm::SmallVector<mlir::Value> reached = {value};
  llvm::DenseSet<mlir::Value> seen = {value};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (mlir::OpOperand& use : reached[i].getUses()) {
      mlir::Operation* user = use.getOwner();
      if (IsOnlyChecked(use)) continue;
      if (mlir::isa<exec::MapMicrobatchesOp, mlir::func::ReturnOp>(user)) {
        const mlir::FlatSymbolRefAttr update = UpdateBy(use);
        const std::string variable = update ? TrainableOf(update, user) : "";
        elsewhere |= variable.empty();
        if (flow.variable.empty()) flow.variable = variable;
        continue;
      }
      for (mlir::Value result : user->getResults()) {
        if (HasElements(result, elements) && seen.insert(result).second) reached.push_back(result);
      }
    }
  }
  flow.updates_only = !flow.variable.empty() && !elsewhere;
  return flow;
}

}  // namespace tandem
