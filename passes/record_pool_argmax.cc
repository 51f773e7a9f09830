// td-record-pool-argmax: max pooling notes where its maxima lie, in a byte each, for its gradient.
//
// Before: no maps, since batch statistics part a pooling from its gradient; td.max_pool_grad looks for the maxima in
// the image again. After: where the pooling itself is in the same block, a td.max_pool_argmax beside it (one kernel
// with it after fusion) and a td.max_pool_argmax_grad in place of the gradient, which does not read the image. A relu
// before the pooling passes the gradient where the image is above 0; at the place that takes the gradient, that is
// where the maximum is. So its mask goes into the places too, and nothing behind the pooling needs the image. A relu
// that only poolings read moves behind them, to fewer elements: the maximum of rectified values is the rectified
// maximum, and places with the mask are the same.
//
//   %x = td.relu %z                              %p = td.max_pool %z
//   %y = td.max_pool %x                          %y = td.relu %p
//   ...                                          %k = td.max_pool_argmax %z {positive = true}
//   %g = td.max_pool_grad %x, %dy         =>     ...
//   %m = td.compare "gt", %x, 0                  %r = td.max_pool_argmax_grad %k, %dy
//   %r = td.select %m, %g, 0
#include "passes/record_pool_argmax.h"

#include "graph/ir/binary.h"
#include "graph/ir/build.h"
#include "graph/ir/pool.h"
#include "graph/ir/unary.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

// The select that lets `grad` through where `x` is above 0, when nothing else uses `grad`.
mlir::Operation* ReluGradient(mlir::Value grad, mlir::Value x) {
  if (!grad.hasOneUse()) return nullptr;
  auto select = mlir::dyn_cast<td::SelectOp>(*grad.getUsers().begin());
  if (!select || select->getOperand(1) != grad || !td::IsSplat(select->getOperand(2), 0)) return nullptr;
  auto compare = select->getOperand(0).getDefiningOp<td::CompareOp>();
  if (!compare || compare.getPredicate() != "gt") return nullptr;
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

class RecordPoolArgmaxPass : public ModulePass<RecordPoolArgmaxPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecordPoolArgmaxPass)
  static constexpr llvm::StringLiteral kName = "td-record-pool-argmax";
  static constexpr llvm::StringLiteral kDescription = "note the places of maxima for the gradient of max pooling";

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
    if (mask != nullptr && mask->use_empty()) mask->erase();  // it would keep the image alive
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createRecordPoolArgmaxPass() { return std::make_unique<RecordPoolArgmaxPass>(); }

}  // namespace tandem
