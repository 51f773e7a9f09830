#include "graph/ir/replica_values.h"

#include "graph/ir/attributes.h"
#include "graph/ir/signature.h"
#include "graph/ir/state.h"

namespace tandem::td {

using mlir::Value;

namespace {

// True for an argument of the step (td-lift-variables) that is a step scalar with another value on each replica.
bool StandsForReplicaScalar(mlir::BlockArgument argument) {
  auto function = mlir::dyn_cast_or_null<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  // The body may have new arguments that are not in the function's type yet.
  if (!function || argument.getArgNumber() >= function.getNumArguments()) return false;
  auto scalar = ScalarOf(function, argument.getArgNumber());
  return scalar && IsReplicaScalar(scalar.getValue());
}

}  // namespace

bool IsReplicaScalar(llvm::StringRef name) { return name == "replica_example_count" || name == "replica_index"; }

bool HasReplicaScope(mlir::Operation* op) {
  auto scope = op->getAttrOfType<BatchScopeAttr>("scope");
  return scope && scope.getValue() == BatchScope::kReplica;
}

ReplicaValues::Known ReplicaValues::ByItself(Value value) {
  auto known = [](bool vary) { return vary ? Known::kYes : Known::kNo; };
  if (IsBatched(value.getType())) return Known::kNo;
  mlir::Operation* op = value.getDefiningOp();
  if (!op) return known(StandsForReplicaScalar(mlir::cast<mlir::BlockArgument>(value)));
  if (auto scalar = mlir::dyn_cast<ScalarOp>(op)) return known(IsReplicaScalar(scalar.getName()));
  if (auto own = mlir::dyn_cast<ReplicaValueOp>(op)) {
    return known(own.variesByReplica(mlir::cast<mlir::OpResult>(value).getResultNumber()));
  }
  if (llvm::any_of(op->getOperandTypes(), IsBatched)) return known(HasReplicaScope(op));
  return Known::kAskOperands;
}

// Searches depth first with an explicit stack: recursion would be too deep for long chains of updates.
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
