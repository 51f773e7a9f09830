// td-record-pool-argmax: makes max pooling store where its maxima are, for its gradient (passes/Passes.td).
#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "graph/ir/pool.h"
#include "graph/ir/unary.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"

namespace tandem {

#define GEN_PASS_DEF_RECORDPOOLARGMAXPASS
#include "passes/passes.h.inc"

namespace {

// If the only use of `grad` is a select that passes it on where `x` is above 0 (the gradient of a relu), returns that
// select; else null.
mlir::Operation* ReluGradient(mlir::Value grad, mlir::Value x) {
  if (!grad.hasOneUse()) return nullptr;
  auto select = mlir::dyn_cast<td::SelectOp>(*grad.getUsers().begin());
  if (!select || select->getOperand(1) != grad || !td::IsSplat(select->getOperand(2), 0)) return nullptr;
  auto compare = select->getOperand(0).getDefiningOp<td::CompareOp>();
  if (!compare || compare.getPredicate() != td::ComparePredicate::kGt) return nullptr;
  return compare->getOperand(0) == x && td::IsSplat(compare->getOperand(1), 0) ? select.getOperation() : nullptr;
}

td::MaxPoolOp Pooling(td::MaxPoolGradOp grad) {
  for (mlir::Operation* user : grad.getX().getUsers()) {
    auto pool = mlir::dyn_cast<td::MaxPoolOp>(user);
    if (pool && pool->getBlock() == grad->getBlock() && pool.getType() == grad.getDy().getType() &&
        pool->getAttrDictionary() == grad->getAttrDictionary()) {
      return pool;
    }
  }
  return nullptr;
}

class RecordPoolArgmaxPass : public impl::RecordPoolArgmaxPassBase<RecordPoolArgmaxPass> {
 public:
  void runOnOperation() final {
    llvm::SmallVector<td::MaxPoolGradOp> grads;
    getOperation().walk([&](td::MaxPoolGradOp op) { grads.push_back(op); });
    for (td::MaxPoolGradOp grad : grads) Rewrite(grad);
    llvm::SmallVector<td::ReluOp> relus;
    getOperation().walk([&](td::ReluOp op) { relus.push_back(op); });
    for (td::ReluOp relu : relus) MoveBehindPooling(relu);
  }

 private:
  static void MoveBehindPooling(td::ReluOp relu) {
    const bool only_pools = llvm::all_of(relu->getUsers(), [&](mlir::Operation* user) {
      auto places = mlir::dyn_cast<td::MaxPoolArgmaxOp>(user);
      return mlir::isa<td::MaxPoolOp>(user) || (places && places.getPositive());
    });
    if (!only_pools || relu.use_empty()) return;
    for (mlir::Operation* user : llvm::make_early_inc_range(relu->getUsers())) {
      if (auto pool = mlir::dyn_cast<td::MaxPoolOp>(user)) {
        mlir::OpBuilder b(pool);
        b.setInsertionPointAfter(pool);
        auto behind = b.create<td::ReluOp>(relu.getLoc(), pool.getOutput());
        pool.getOutput().replaceAllUsesExcept(behind, behind);
      }
      user->replaceUsesOfWith(relu, relu.getInput());
    }
    relu.erase();
  }

  static void Rewrite(td::MaxPoolGradOp grad) {
    td::MaxPoolOp pool = Pooling(grad);
    llvm::ArrayRef<int64_t> window = grad.getWindow();
    if (!pool || window[0] > td::kNoMaximum / window[1]) return;
    mlir::Value x = grad.getX();
    mlir::Operation* relu = ReluGradient(grad.getDx(), x);
    mlir::OpBuilder b(pool);
    b.setInsertionPointAfter(pool);
    auto argmax = b.create<td::MaxPoolArgmaxOp>(pool.getLoc(), x, window, grad.getStrides(), grad.getPadLow(),
                                                grad.getPadHigh(), relu != nullptr);
    mlir::Operation* replaced = relu != nullptr ? relu : grad;
    b.setInsertionPoint(replaced);
    auto image = mlir::cast<mlir::RankedTensorType>(x.getType()).getShape();
    auto from_argmax = b.create<td::MaxPoolArgmaxGradOp>(grad.getLoc(), argmax, grad.getDy(), image.slice(1, 2), window,
                                                         grad.getStrides(), grad.getPadLow(), grad.getPadHigh());
    replaced->getResult(0).replaceAllUsesWith(from_argmax);
    mlir::Operation* mask = relu != nullptr ? relu->getOperand(0).getDefiningOp() : nullptr;
    replaced->erase();
    if (relu != nullptr) grad.erase();
    // An unused comparison of the image would keep the image in memory.
    if (mask != nullptr && mask->use_empty()) mask->erase();
  }
};

}  // namespace

}  // namespace tandem
