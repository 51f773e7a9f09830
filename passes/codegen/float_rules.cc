#include "passes/codegen/float_rules.h"

#include "graph/ir/dist.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;

// Returns the product that computes `v`, if it can be fused into `user`, a sum. Other uses of the product do not
// prevent this: a value that two kernels compute must be equal in both, even if only one of them uses the product
// otherwise. The gradient of a maximum, for example, looks for the element that is equal to it.
arith::MulFOp FusibleProduct(mlir::Value v, mlir::Operation* user) {
  auto product = v.getDefiningOp<arith::MulFOp>();
  return product && product->getBlock() == user->getBlock() && !product->hasAttr(td::kRoundedAttr) ? product : nullptr;
}

void Fuse(mlir::Operation* op) {
  mlir::OpBuilder b(op);
  mlir::Value left = op->getOperand(0), right = op->getOperand(1);
  bool subtract = mlir::isa<arith::SubFOp>(op);
  mlir::Value result;
  if (auto product = FusibleProduct(left, op)) {
    mlir::Value addend = subtract ? b.create<arith::NegFOp>(op->getLoc(), right).getResult() : right;
    result = b.create<mlir::math::FmaOp>(op->getLoc(), product.getLhs(), product.getRhs(), addend);
  } else if (auto product = FusibleProduct(right, op)) {
    mlir::Value factor = product.getLhs();
    if (subtract) factor = b.create<arith::NegFOp>(op->getLoc(), factor);
    result = b.create<mlir::math::FmaOp>(op->getLoc(), factor, product.getRhs(), left);
  }
  if (!result) return;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

}  // namespace

void ApplyFloatRules(mlir::ModuleOp module, bool fuse_multiply_add) {
  auto contract = arith::FastMathFlagsAttr::get(module.getContext(), arith::FastMathFlags::contract);
  llvm::SmallVector<mlir::Operation*> sums;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa<arith::AddFOp, arith::SubFOp>(op)) sums.push_back(op);
  });
  for (mlir::Operation* op : sums) {
    auto flags = op->getAttrOfType<arith::FastMathFlagsAttr>("fastmath");
    bool reassociates = flags && bitEnumContainsAny(flags.getValue(), arith::FastMathFlags::reassoc);
    if (!reassociates) {
      if (fuse_multiply_add) Fuse(op);
      continue;
    }
    for (mlir::Value operand : op->getOperands()) {
      if (auto product = FusibleProduct(operand, op); product && product->hasOneUse()) {
        product->setAttr("fastmath", contract);
      }
    }
  }
}

}  // namespace tandem
