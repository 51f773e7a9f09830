#include "passes/contraction/residual.h"

#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/channel_bias.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

// Returns the ops of the block whose results `op` needs, directly or not; `op` is not among them.
llvm::DenseSet<mlir::Operation*> Needed(mlir::Operation* op) {
  llvm::DenseSet<mlir::Operation*> needed;
  llvm::SmallVector<mlir::Operation*> next = {op};
  while (!next.empty()) {
    for (mlir::Value v : next.pop_back_val()->getOperands()) {
      mlir::Operation* producer = v.getDefiningOp();
      if (producer && producer->getBlock() == op->getBlock() && needed.insert(producer).second)
        next.push_back(producer);
    }
  }
  return needed;
}

// True if only `add` and the ops in `needed` read `v`, directly or through views.
bool IsReadBefore(mlir::Value v, mlir::Operation* add, const llvm::DenseSet<mlir::Operation*>& needed) {
  return llvm::all_of(v.getUsers(), [&](mlir::Operation* reader) {
    if (auto view = mlir::dyn_cast<td::ReshapeOp>(reader)) return IsReadBefore(view.getResult(), add, needed);
    return reader == add || needed.contains(reader);
  });
}

// True if generated kernels compute `op` and can do so together with the ops around it.
bool Fuses(mlir::Operation* op) { return td::FusionKindOf(op) != td::FusionKind::kNone; }

// True if `v` is the result of a contraction whose epilogue is a bias, or a bias and a relu.
bool EndsContraction(mlir::Value v) {
  if (auto relu = v.getDefiningOp<td::ReluOp>()) v = relu->getOperand(0);
  auto add = v.getDefiningOp<td::AddOp>();
  return add && llvm::any_of(add->getOperands(), [&](mlir::Value y) {
           return y.hasOneUse() && y.getDefiningOp<td::LibraryOp>() && ChannelBiasOf(add, y);
         });
}

// True if `v` is stored in memory in any case, even if `add` is part of a generated kernel.
bool IsStored(mlir::Value v, mlir::Operation* add) {
  if (!Fuses(v.getDefiningOp()) || EndsContraction(v)) return true;
  return llvm::any_of(v.getUsers(), [&](mlir::Operation* user) { return user != add && !Fuses(user); });
}

}  // namespace

mlir::Value ResidualOf(td::AddOp add, mlir::Value y) {
  if (!mlir::isa<exec::MapMicrobatchesOp>(add->getParentOp()) || !td::IsBatched(y.getType())) return {};
  mlir::Value other = add->getOperand(add->getOperand(0) == y ? 1 : 0);
  mlir::Value source = other;
  while (auto view = source.getDefiningOp<td::ReshapeOp>()) source = view.getInput();
  mlir::Operation* producer = source.getDefiningOp();
  const bool made = producer && other != y && producer->getBlock() == add->getBlock() &&
                    !mlir::isa<td::BroadcastOp>(producer) && !mlir::matchPattern(producer, mlir::m_Constant());
  return made && IsStored(source, add) ? other : mlir::Value();
}

bool DiesAt(mlir::Value residual, td::AddOp add, mlir::Operation* op) {
  while (auto view = residual.getDefiningOp<td::ReshapeOp>()) residual = view.getInput();
  // A shortcut that avoids the search below: most residuals that are still read later are yielded by the map.
  if (llvm::is_contained(residual.getUsers(), add->getBlock()->getTerminator())) return false;
  return IsReadBefore(residual, add, Needed(op));
}

}  // namespace tandem
