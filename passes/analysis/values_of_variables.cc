#include "passes/analysis/values_of_variables.h"

#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "graph/ir/state.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/exec/dialect.h"

namespace tandem {

llvm::DenseSet<mlir::Value> ValuesOfVariables(mlir::func::FuncOp step, Variables variables) {
  llvm::DenseSet<mlir::Attribute> updated;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i)) updated.insert(update);
  }
  for (auto variable : step->getParentOfType<mlir::ModuleOp>().getOps<td::VariableOp>()) {
    if (variable->hasAttr(kUpdatedByOthersAttr))
      updated.insert(mlir::FlatSymbolRefAttr::get(variable.getSymNameAttr()));
  }
  llvm::DenseSet<mlir::Value> values;
  for (mlir::BlockArgument a : step.getArguments()) {
    mlir::FlatSymbolRefAttr variable = td::VariableOf(step, a.getArgNumber());
    if (variable && (variables == Variables::kAll || !updated.contains(variable))) values.insert(a);
  }
  for (mlir::Operation& op : step.getBody().front()) {
    // These ops are skipped: an all-reduce writes over its operands, and a group of updates over variables.
    if (!mlir::isMemoryEffectFree(&op) || mlir::isa<exec::AllReduceOp, exec::GroupedLaunchOp>(op)) continue;
    if (llvm::any_of(op.getResultTypes(), td::IsBatched)) continue;
    if (!llvm::all_of(op.getOperands(), [&](mlir::Value v) { return values.contains(v); })) continue;
    values.insert(op.result_begin(), op.result_end());
  }
  return values;
}

}  // namespace tandem
