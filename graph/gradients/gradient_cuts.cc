// Explains why a loss has no gradient for some values.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/gradients/gradients.h"
#include "graph/ir/build.h"
#include "graph/ir/interfaces.h"
#include "graph/module/graph_module.h"
#include "llvm/ADT/DenseSet.h"

namespace tandem::internal {

using mlir::Operation;
using mlir::Value;

namespace {

llvm::DenseSet<Operation*> OpsAbove(Value value) {
  llvm::DenseSet<Operation*> above;
  llvm::SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation* op = open.pop_back_val().getDefiningOp();
    if (op == nullptr || !above.insert(op).second) continue;
    open.append(op->operand_begin(), op->operand_end());
  }
  return above;
}

// True if `op` passes a gradient to one of its operands in `carried`. To find out, the gradient has to be built.
bool PassesGradient(mlir::OpBuilder& b, Operation& op, const llvm::DenseSet<Value>& carried) {
  auto differentiable = mlir::dyn_cast<td::GradientOp>(&op);
  if (!differentiable) return false;
  llvm::SmallVector<Value> result_grads, operand_grads(op.getNumOperands());
  mlir::Block* block = b.getInsertionBlock();
  Operation* before = b.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
  bool any = false;
  for (Value r : op.getResults()) {
    result_grads.push_back(td::IsFloat(r) ? td::BuildSplat(b, op.getLoc(), r.getType(), 1) : Value());
    any = any || result_grads.back();
  }
  bool passes = false;
  if (any && mlir::succeeded(differentiable.buildGradient(b, result_grads, operand_grads))) {
    for (auto [operand, grad] : llvm::zip(op.getOperands(), operand_grads)) {
      passes = passes || (grad && carried.contains(operand));
    }
  }
  llvm::SmallVector<Operation*> made;
  auto first = before ? std::next(before->getIterator()) : block->begin();
  for (auto it = first; it != b.getInsertionPoint(); ++it) made.push_back(&*it);
  for (Operation* o : llvm::reverse(made)) o->erase();
  return passes;
}

}  // namespace

std::string DescribeGradientCuts(mlir::OpBuilder& b, Value loss, llvm::ArrayRef<Value> xs) {
  const llvm::DenseSet<Operation*> above = OpsAbove(loss);
  llvm::DenseSet<Value> from_x(xs.begin(), xs.end()), carried(xs.begin(), xs.end());
  llvm::SmallVector<Operation*> forward;
  for (Operation& op : *b.getInsertionBlock()) {
    if (above.contains(&op)) forward.push_back(&op);
  }
  std::vector<std::string> cuts;
  for (Operation* op : forward) {
    if (llvm::none_of(op->getOperands(), [&](Value v) { return from_x.contains(v); })) continue;
    from_x.insert(op->result_begin(), op->result_end());
    if (llvm::none_of(op->getOperands(), [&](Value v) { return carried.contains(v); })) continue;
    if (PassesGradient(b, *op, carried)) {
      for (Value r : op->getResults()) {
        if (td::IsFloat(r)) carried.insert(r);
      }
    } else {
      cuts.push_back(absl::StrCat("\"", LocationName(op->getLoc()), "\" at ", LocationFileLine(op->getLoc())));
    }
  }
  if (cuts.empty()) return "the loss does not depend on them";
  return absl::StrCat("the loss depends on them only through ", absl::StrJoin(cuts, " and "), ", which ",
                      cuts.size() == 1 ? "has" : "have", " no gradient");
}

}  // namespace tandem::internal
