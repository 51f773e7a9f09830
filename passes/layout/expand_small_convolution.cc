// td-expand-small-convolution, as Passes.td describes it.
#include "graph/ir/contract.h"
#include "passes/exec/direct.h"
#include "passes/pass_util.h"
#include "passes/passes.h"
#include "passes/small_convolution.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_EXPANDSMALLCONVOLUTIONPASS
#include "passes/passes.h.inc"

namespace {

// All of the op is float32: of a bfloat16 image a library makes a float32 gradient, a kernel does not.
// td-paint-precision leaves these ops float32.
bool IsTaken(mlir::Operation* op) {
  auto is_float32 = [](mlir::Type type) { return mlir::getElementTypeOrSelf(type).isF32(); };
  return (IsSmallConvolution(op) || IsPictureConvolution(op)) && llvm::all_of(op->getOperandTypes(), is_float32) &&
         llvm::all_of(op->getResultTypes(), is_float32);
}

class ExpandSmallConvolutionPass : public impl::ExpandSmallConvolutionPassBase<ExpandSmallConvolutionPass> {
 public:
  void runOnOperation() final {
    if (!TargetOf(getOperation())->generates_contractions()) return;
    getOperation().walk([](td::Conv2DOp op) {
      if (!IsTaken(op)) return;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<exec::DirectConv2DOp>(op.getLoc(), op.getX(), op.getKernel(), op.getStrides(),
                                                           op.getPadLow(), op.getPadHigh())
                                .getResult());
      op.erase();
    });
    getOperation().walk([](td::Conv2DFilterGradOp op) {
      if (!IsTaken(op)) return;
      mlir::OpBuilder b(op);
      op.replaceAllUsesWith(b.create<exec::DirectConv2DFilterGradOp>(op.getLoc(), op.getDy(), op.getX(), op.getSize(),
                                                                     op.getStrides(), op.getPadLow(), op.getPadHigh())
                                .getResult());
      op.erase();
    });
  }
};

}  // namespace

}  // namespace tandem
