#include "passes/phases/input/step_partition.h"

#include "base/step_scalars.h"
#include "graph/ir/dialect.h"
#include "graph/ir/dist.h"
#include "graph/ir/signature.h"
#include "passes/base/pass_util.h"

namespace tandem {

StepPartition::StepPartition(mlir::func::FuncOp step, std::map<std::string, int> owners_of_variables)
    : step_(step), owners_of_variables_(std::move(owners_of_variables)) {
  for (mlir::Operation& op : body().without_terminator()) {
    if (FollowsFromScalars(&op)) owners_[&op] = kAny;
  }
  for (mlir::Operation& op : llvm::reverse(body().without_terminator())) {
    if (!owners_.contains(&op)) owners_[&op] = FindOwner(&op);
  }
}

bool StepPartition::Owns(int owner, mlir::FlatSymbolRefAttr variable) const {
  const auto it = owners_of_variables_.find(variable.getValue().str());
  return it != owners_of_variables_.end() && it->second == owner;
}

int StepPartition::ReaderOf(mlir::OpOperand& use) const {
  if (use.getOwner() != body().getTerminator()) return owners_.lookup(use.getOwner());
  mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, use.getOperandNumber());
  return update ? OwnerOf(update) : kWorker;
}

std::vector<mlir::Operation*> StepPartition::OpsOf(int owner) const {
  std::vector<mlir::Operation*> ops;
  for (mlir::Operation& op : body().without_terminator()) {
    if (owners_.lookup(&op) == owner) ops.push_back(&op);
  }
  return ops;
}

llvm::SetVector<mlir::Value> StepPartition::SentTo(int owner) const {
  llvm::SetVector<mlir::Value> values;
  for (mlir::Operation& op : body()) {
    for (mlir::OpOperand& operand : op.getOpOperands()) {
      if (ReaderOf(operand) == owner && !Has(owner, operand.get())) values.insert(operand.get());
    }
  }
  return values;
}

std::vector<StepPartition::LostUpdate> StepPartition::LostUpdates() const {
  std::vector<LostUpdate> lost;
  for (mlir::OpOperand& operand : body().getTerminator()->getOpOperands()) {
    mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, operand.getOperandNumber());
    if (!update) continue;
    if (mlir::Operation* reader = WorkersReaderOf(update, operand.get())) {
      lost.push_back({reader, update, ServesRows(operand.get())});
    }
  }
  return lost;
}

mlir::Operation* StepPartition::WorkersReaderOf(mlir::FlatSymbolRefAttr variable, mlir::Value value) const {
  const int owner = OwnerOf(variable);
  llvm::SetVector<mlir::Operation*> makers;
  const auto add = [&](mlir::Value v) {
    mlir::Operation* maker = v.getDefiningOp();
    if (maker == nullptr) return;
    const int computed_by = owners_.lookup(maker);
    if (computed_by == kWorker || computed_by == owner) makers.insert(maker);
  };
  mlir::Operation* reader = nullptr;
  add(value);
  for (size_t i = 0; i < makers.size(); ++i) {
    // Does not follow operands of ops on rows. These are gradients or statistics, which may use a value of the variable
    // that is a few updates old.
    if (llvm::any_of(makers[i]->getOperandTypes(), td::IsBatched)) continue;
    for (mlir::Value v : makers[i]->getOperands()) {
      add(v);
      auto argument = mlir::dyn_cast<mlir::BlockArgument>(v);
      if (!argument || td::VariableOf(step_, argument.getArgNumber()) != variable) continue;
      if (owners_.lookup(makers[i]) == owner) return nullptr;
      if (reader == nullptr) reader = makers[i];
    }
  }
  return reader;
}

bool StepPartition::ServesRows(mlir::Value value) const {
  llvm::SetVector<mlir::Operation*> readers;
  const auto add = [&](mlir::Value v) {
    for (mlir::Operation* user : v.getUsers()) {
      if (user != body().getTerminator()) readers.insert(user);
    }
  };
  add(value);
  for (size_t i = 0; i < readers.size(); ++i) {
    if (llvm::any_of(readers[i]->getResultTypes(), td::IsBatched)) return true;
    for (mlir::Value result : readers[i]->getResults()) add(result);
  }
  return false;
}

int StepPartition::FindOwner(mlir::Operation* op) const {
  const auto batched = [](mlir::Value v) { return td::IsBatched(v.getType()); };
  if (llvm::any_of(op->getOperands(), batched) || llvm::any_of(op->getResults(), batched)) return kWorker;
  if (mlir::isa<td::CrossReplicaOp>(op) || op->use_empty()) return kWorker;
  int owner = kAny;
  for (mlir::OpOperand& use : op->getUses()) {
    // Uses as outputs and as checked values do not count: for them the worker computes a copy of its own.
    const unsigned result = use.getOperandNumber();
    if (use.getOwner() == body().getTerminator() && (td::OutputOf(step_, result) || td::IsChecked(step_, result))) {
      continue;
    }
    const int reader = ReaderOf(use);
    if (owner != kAny && reader != owner) return kWorker;
    owner = reader;
  }
  if (owner < 0) return kWorker;
  for (mlir::Value operand : op->getOperands()) {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(operand);
    if (argument && !Has(owner, argument)) return kWorker;
  }
  return owner;
}

bool StepPartition::FollowsFromScalars(mlir::Operation* op) const {
  return llvm::none_of(op->getResultTypes(), td::IsBatched) && llvm::all_of(op->getOperands(), [&](mlir::Value v) {
           if (mlir::Operation* maker = v.getDefiningOp()) return owners_.contains(maker);
           return IsStepScalar(mlir::cast<mlir::BlockArgument>(v));
         });
}

bool StepPartition::IsStepScalar(mlir::BlockArgument argument) const {
  mlir::StringAttr scalar = td::ScalarOf(step_, argument.getArgNumber());
  return scalar && !IsSetBySession(scalar.str());
}

bool StepPartition::Has(int owner, mlir::Value value) const {
  if (mlir::Operation* op = value.getDefiningOp()) {
    const int computed_by = owners_.lookup(op);
    return computed_by == owner || computed_by == kAny;
  }
  auto argument = mlir::cast<mlir::BlockArgument>(value);
  if (mlir::FlatSymbolRefAttr variable = td::VariableOf(step_, argument.getArgNumber())) {
    return OwnerOf(variable) == owner;
  }
  return IsStepScalar(argument);
}

}  // namespace tandem
