#include "graph/ir/replica_values.h"

#include "graph/ir/dist.h"
#include "graph/ir/state.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem::td {

using mlir::Value;

namespace {

constexpr char kReplicaRows[] = "replica_example_count";

// The step scalar that a lifted argument stands for.
bool IsReplicaRows(mlir::BlockArgument argument) {
  auto function = mlir::dyn_cast_or_null<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  // The body may have got arguments that the function's type does not show yet.
  if (!function || argument.getArgNumber() >= function.getNumArguments()) return false;
  auto scalar = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "td.scalar");
  return scalar && scalar.getValue() == kReplicaRows;
}

bool IsReplicaScope(mlir::Attribute scope) {
  auto string = mlir::dyn_cast_or_null<mlir::StringAttr>(scope);
  return string && string.getValue() == "replica";
}

}  // namespace

ReplicaValues::Known ReplicaValues::ByItself(Value value) {
  auto known = [](bool vary) { return vary ? Known::kYes : Known::kNo; };
  if (IsBatched(value.getType())) return Known::kNo;
  mlir::Operation* op = value.getDefiningOp();
  if (!op) return known(IsReplicaRows(mlir::cast<mlir::BlockArgument>(value)));
  if (mlir::isa<CrossReplicaOp, AllReduceOp>(op)) return Known::kNo;
  if (auto scalar = mlir::dyn_cast<ScalarOp>(op)) return known(scalar.getName() == kReplicaRows);
  if (auto map = mlir::dyn_cast<MapShardsOp>(op)) {
    return known(IsReplicaScope(map.getScope()[mlir::cast<mlir::OpResult>(value).getResultNumber()]));
  }
  if (llvm::any_of(op->getOperandTypes(), IsBatched)) return known(IsReplicaScope(op->getAttr("scope")));
  return Known::kAskOperands;
}

// Depth first, with a stack of its own: chains of updates are long.
bool ReplicaValues::Vary(Value value) {
  llvm::SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    Value v = stack.back();
    if (vary_.contains(v)) {
      stack.pop_back();
      continue;
    }
    bool vary = false, complete = true;
    const Known known = ByItself(v);
    if (known == Known::kAskOperands) {
      for (Value operand : v.getDefiningOp()->getOperands()) {
        auto it = vary_.find(operand);
        if (it == vary_.end()) {
          stack.push_back(operand);
          complete = false;
        } else {
          vary |= it->second;
        }
      }
    } else {
      vary = known == Known::kYes;
    }
    if (!complete) continue;
    vary_[v] = vary;
    stack.pop_back();
  }
  return vary_.lookup(value);
}

mlir::Operation* ReplicaValues::Origin(Value value) {
  while (Vary(value)) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || ByItself(value) != Known::kAskOperands) return op;
    for (Value operand : op->getOperands()) {
      if (!Vary(operand)) continue;
      value = operand;
      break;
    }
  }
  return nullptr;
}

}  // namespace tandem::td
