// td-lower-attention: on CPUs, adds to attention ops the scratch memory that their kernels use (passes/Passes.td).
#include "graph/ir/attention.h"
#include "passes/base/passes.h"
#include "passes/exec/attention.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_LOWERATTENTIONPASS
#include "passes/passes.h.inc"

namespace {

class LowerAttentionPass : public impl::LowerAttentionPassBase<LowerAttentionPass> {
 public:
  void runOnOperation() final {
    if (TargetOf(getOperation())->has_small_head_attention()) return;
    llvm::SmallVector<mlir::Operation*> ops;
    getOperation().walk([&](mlir::Operation* op) {
      if (mlir::isa<td::AttentionOp, td::AttentionGradOp>(op) && IsFloat32(op)) ops.push_back(op);
    });
    for (mlir::Operation* op : ops) {
      if (auto forward = mlir::dyn_cast<td::AttentionOp>(op)) {
        Lower<exec::AttentionOp>(forward, /*gradient=*/false);
      } else {
        Lower<exec::AttentionGradOp>(mlir::cast<td::AttentionGradOp>(op), /*gradient=*/true);
      }
    }
  }

 private:
  static bool IsFloat32(mlir::Operation* op) { return mlir::getElementTypeOrSelf(op->getOperand(0).getType()).isF32(); }

  // Replaces `op` by an ExecOp with the same operands, attributes and results, plus one result that is scratch memory.
  template <typename ExecOp, typename TdOp>
  static void Lower(TdOp op, bool gradient) {
    const AttentionShape shape = td::AttentionShapeOf(op.getQuery(), op.getKey(), op.getValue(), op.getHeadsInside());
    llvm::SmallVector<mlir::Type> types(op->getResultTypes());
    types.push_back(exec::ScratchType(op.getContext(), shape, gradient));
    mlir::OpBuilder b(op);
    mlir::OperationState state(op.getLoc(), ExecOp::getOperationName(), op->getOperands(), types,
                               op->getAttrDictionary().getValue());
    op->replaceAllUsesWith(b.create(state)->getResults().drop_back());
    op->erase();
  }
};

}  // namespace

}  // namespace tandem
