// td-insert-copies: inserts copies of values that no command can write straight to the memory where they must be in the
// end (passes/Passes.td).
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/step_signature.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/memory/live_values.h"

namespace tandem {

#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "passes/passes.h.inc"

namespace {

// Inserts a copy of the value that `operand` reads, and makes `operand` read the copy.
void Copy(mlir::OpOperand& operand, mlir::Location location) {
  mlir::OpBuilder builder(operand.getOwner());
  operand.set(builder.create<exec::CopyOp>(location, operand.get().getType(), operand.get()));
}

// True if `v` is the result of a command that writes it to memory of its own.
bool HasOwnPlace(mlir::Value v) {
  return v.getDefiningOp<exec::CommandOp>() && !SharedOperand(mlir::cast<mlir::OpResult>(v));
}

// Returns the value that `v` is a view of (a reshape is a view of its operand), or `v` itself.
mlir::Value SourceOf(mlir::Value v) {
  while (auto reshape = v.getDefiningOp<td::ReshapeOp>()) v = reshape.getInput();
  return v;
}

// True if no op behind `op` reads `v`, directly or through views, and `op` itself reads it only by operands for which
// `allowed` is true.
bool IsLastReader(mlir::Operation* op, mlir::Value v, llvm::function_ref<bool(mlir::OpOperand&)> allowed) {
  return llvm::all_of(v.getUses(), [&](mlir::OpOperand& use) {
    mlir::Operation* reader = use.getOwner();
    if (reader == op) return allowed(use);
    if (auto view = mlir::dyn_cast<td::ReshapeOp>(reader)) return IsLastReader(op, view.getResult(), allowed);
    return reader->isBeforeInBlock(op);
  });
}

// True if `operand` and `result` belong to the same member of a grouped launch, whose members run in any order, or to a
// single launch.
bool IsOfMember(mlir::OpResult result, mlir::OpOperand& operand) {
  const int64_t members = mlir::cast<exec::CommandOp>(result.getOwner()).getLaunchedMembers();
  const int64_t operands = operand.getOwner()->getNumOperands() / members;
  const int64_t results = result.getOwner()->getNumResults() / members;
  return members == 1 || operand.getOperandNumber() / operands == result.getResultNumber() / results;
}

class InsertCopiesPass : public impl::InsertCopiesPassBase<InsertCopiesPass> {
 public:
  void runOnOperation() final {
    step_ = StepFunction(getOperation());
    if (!step_) return;
    if (mlir::failed(VerifyStepSignature(step_)) || mlir::failed(VerifyLaunches(getOperation(), step_))) {
      return signalPassFailure();
    }
    CopyOutputs();
    CopyUpdates();
    CopyOverwritten();
    CopyYielded();
  }

 private:
  // Copies outputs that lie in a step scalar, a variable or among the constants to memory that survives the step.
  void CopyOutputs() {
    for (mlir::OpOperand& operand : step_.getBody().front().getTerminator()->getOpOperands()) {
      mlir::Value v = operand.get();
      if (!td::OutputOf(step_, operand.getOperandNumber()) || td::IsBatched(v.getType())) continue;
      mlir::Operation* source = SourceOf(v).getDefiningOp();
      if (!source || mlir::matchPattern(source, mlir::m_Constant())) Copy(operand, v.getLoc());
    }
  }

  // Copies new values of variables that cannot be written straight over the old ones. In a grouped launch, which
  // updates many variables, either all new values are written over the old ones or none is.
  void CopyUpdates() {
    llvm::DenseMap<mlir::Attribute, mlir::Value> variables;
    for (mlir::BlockArgument argument : step_.getArguments()) {
      variables[td::VariableOf(step_, argument.getArgNumber())] = argument;
    }
    llvm::DenseSet<mlir::Operation*> copied;
    llvm::SmallVector<mlir::OpOperand*> updates;
    for (mlir::OpOperand& operand : step_.getBody().front().getTerminator()->getOpOperands()) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, operand.getOperandNumber());
      if (!update) continue;
      updates.push_back(&operand);
      if (!CanOverwrite(operand.get(), variables.lookup(update))) copied.insert(operand.get().getDefiningOp());
    }
    llvm::erase_if(updates, [&](mlir::OpOperand* operand) { return !copied.contains(operand->get().getDefiningOp()); });
    // Copies old values of variables first, before any variable is written: a swap of two variables needs both.
    for (mlir::OpOperand* operand : updates) {
      if (mlir::isa<mlir::BlockArgument>(SourceOf(operand->get()))) Copy(*operand, operand->get().getLoc());
    }
    for (mlir::OpOperand* operand : updates) Copy(*operand, operand->get().getLoc());
  }

  // True if `update` can be written straight over the variable's old value, `old` (null if nothing reads it). It must
  // have no other use, and be computed after the finite checks and after the last other reader of the old value.
  bool CanOverwrite(mlir::Value update, mlir::Value old) {
    if (!HasOwnPlace(update) || !update.hasOneUse()) return false;
    auto result = mlir::cast<mlir::OpResult>(update);
    mlir::Operation* op = result.getOwner();
    for (auto check : step_.getOps<exec::CheckFiniteOp>()) {
      if (op->isBeforeInBlock(check)) return false;
    }
    return !old ||
           IsLastReader(op, old, [&](mlir::OpOperand& use) { return ReadsElementwise(op) && IsOfMember(result, use); });
  }

  // True if `op` launches a flat kernel, which reads element i of its operands before it writes element i of its
  // results.
  bool ReadsElementwise(mlir::Operation* op) {
    auto command = mlir::dyn_cast<exec::CommandOp>(op);
    const mlir::FlatSymbolRefAttr kernel = command ? command.getLaunchedKernel() : nullptr;
    if (!kernel) return false;
    auto function = getOperation().lookupSymbol<mlir::func::FuncOp>(kernel.getAttr());
    return function && exec::GetKernelKind(function) == exec::KernelKind::kFlat;
  }

  // Copies operands that commands write over, unless they are computed in the command's block and nothing else reads
  // them afterwards: td-select-libraries takes only residuals that die, but later passes may have made other ops read
  // the same value.
  void CopyOverwritten() {
    step_.walk([&](exec::CommandOp command) {
      for (mlir::OpResult result : command->getOpResults()) {
        mlir::OpOperand* operand = command.getOperandInPlace(result.getResultNumber());
        if (!operand) continue;
        mlir::Value source = SourceOf(operand->get());
        const bool computed = mlir::isa_and_present<exec::CommandOp, exec::MapMicrobatchesOp>(source.getDefiningOp()) &&
                              source.getParentBlock() == command->getBlock();
        const auto is_overwritten = [&](mlir::OpOperand& use) { return &use == operand; };
        if (!computed || !IsLastReader(command, source, is_overwritten)) Copy(*operand, command.getLoc());
      }
    });
  }

  // Copies values that a map yields twice, and values that no command of the body writes to memory of their own, such
  // as arguments.
  void CopyYielded() {
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      llvm::DenseSet<mlir::Value> yielded;
      for (mlir::OpOperand& operand : map.getBody().front().getTerminator()->getOpOperands()) {
        mlir::Value v = operand.get();
        if (!HasOwnPlace(v) || !yielded.insert(v).second) Copy(operand, v.getLoc());
      }
    }
  }

  mlir::func::FuncOp step_;
};

}  // namespace

}  // namespace tandem
