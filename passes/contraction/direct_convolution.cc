#include "passes/contraction/direct_convolution.h"

#include "graph/ir/contract.h"
#include "passes/exec/direct.h"

namespace tandem {

mlir::LogicalResult LowerToDirect(const Contraction& c, exec::ContractionAttr) {
  mlir::Operation* op = c.op;
  mlir::OpBuilder b(op);
  if (auto forward = mlir::dyn_cast<td::Conv2DOp>(op)) {
    forward.replaceAllUsesWith(b.create<exec::DirectConv2DOp>(op->getLoc(), forward.getX(), forward.getKernel(),
                                                              forward.getStrides(), forward.getPadLow(),
                                                              forward.getPadHigh())
                                   .getResult());
  } else {
    auto grad = mlir::cast<td::Conv2DFilterGradOp>(op);
    grad.replaceAllUsesWith(b.create<exec::DirectConv2DFilterGradOp>(op->getLoc(), grad.getDy(), grad.getX(),
                                                                     grad.getSize(), grad.getStrides(),
                                                                     grad.getPadLow(), grad.getPadHigh())
                                .getResult());
  }
  op->erase();
  return mlir::success();
}

}  // namespace tandem
