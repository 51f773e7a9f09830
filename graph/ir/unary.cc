#include "graph/ir/unary.h"

#include <cmath>

#include "graph/ir/build.h"
#include "graph/ir/reference_util.h"

#define GET_OP_CLASSES
#include "graph/ir/unary.cc.inc"

namespace tandem::td {

using mlir::Value;

void TdDialect::registerUnaryOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/unary.cc.inc"
      >();
}

llvm::LogicalResult IsFiniteOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location>,
                                                 mlir::ValueRange operands, mlir::DictionaryAttr,
                                                 mlir::OpaqueProperties, mlir::RegionRange,
                                                 llvm::SmallVectorImpl<mlir::Type>& types) {
  types.push_back(mlir::cast<mlir::RankedTensorType>(operands[0].getType()).clone(mlir::IntegerType::get(context, 1)));
  return mlir::success();
}

// neg(neg(x)) is x.
mlir::OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NegOp>();
  return inner ? inner.getInput() : mlir::OpFoldResult();
}

// not(not(x)) is x.
mlir::OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NotOp>();
  return inner ? inner.getInput() : mlir::OpFoldResult();
}

// relu(relu(x)) is relu(x).
mlir::OpFoldResult ReluOp::fold(FoldAdaptor) {
  return getInput().getDefiningOp<ReluOp>() ? getInput() : mlir::OpFoldResult();
}

mlir::OpFoldResult StopGradientOp::fold(FoldAdaptor) { return getInput(); }

// Widening to float32 is exact, so bfloat16 -> float32 -> bfloat16 is the number itself.
mlir::OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getOutput().getType()) return getInput();
  auto inner = getInput().getDefiningOp<CastOp>();
  if (!inner || inner.getInput().getType() != getOutput().getType()) return {};
  bool widens = mlir::getElementTypeOrSelf(inner.getInput().getType()).isBF16() &&
                mlir::getElementTypeOrSelf(inner.getOutput().getType()).isF32();
  return widens ? inner.getInput() : mlir::OpFoldResult();
}

// Gradients. TD_GRADIENT(Op, expr): `dy` is the gradient of the result, `x` the operand, `y` the result.
#define TD_GRADIENT(Op, expr)                                                          \
  llvm::LogicalResult Op::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,    \
                                        llvm::SmallVectorImpl<Value>& operand_grads) { \
    [[maybe_unused]] Value dy = grads[0], x = getOperand(), y = getResult();           \
    [[maybe_unused]] mlir::Location l = getLoc();                                      \
    operand_grads[0] = expr;                                                           \
    return mlir::success();                                                            \
  }

TD_GRADIENT(NegOp, BuildNeg(b, l, dy))
TD_GRADIENT(AbsOp, BuildMul(b, l, dy, BuildSign(b, l, x)))
TD_GRADIENT(SignOp, Value())
TD_GRADIENT(FloorOp, Value())
TD_GRADIENT(StopGradientOp, Value())
TD_GRADIENT(ExpOp, BuildMul(b, l, dy, y))
TD_GRADIENT(LogOp, BuildDiv(b, l, dy, x))
TD_GRADIENT(SqrtOp, BuildDiv(b, l, BuildMul(b, l, dy, 0.5), y))
// d x^(-1/2) = -1/2 y^3
TD_GRADIENT(RsqrtOp, BuildMul(b, l, BuildMul(b, l, dy, -0.5), BuildMul(b, l, y, BuildMul(b, l, y, y))))
TD_GRADIENT(TanhOp, BuildMul(b, l, dy, BuildSub(b, l, BuildSplat(b, l, y.getType(), 1), BuildMul(b, l, y, y))))
TD_GRADIENT(SinOp, BuildMul(b, l, dy, b.create<CosOp>(l, x)))
TD_GRADIENT(CosOp, BuildNeg(b, l, BuildMul(b, l, dy, b.create<SinOp>(l, x))))
TD_GRADIENT(SigmoidOp, BuildMul(b, l, dy, BuildSub(b, l, y, BuildMul(b, l, y, y))))
// y > 0 exactly where x > 0. Using y leaves x without this use, so that a library can apply the relu to its own result.
TD_GRADIENT(ReluOp, BuildSelect(b, l, BuildCompare(b, l, ComparePredicate::kGt, y, BuildSplat(b, l, y.getType(), 0)),
                                dy, BuildSplat(b, l, y.getType(), 0)))
TD_GRADIENT(CastOp, mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x.getType()))
                        ? BuildCast(b, l, dy, mlir::getElementTypeOrSelf(x.getType()))
                        : Value())

#undef TD_GRADIENT

}  // namespace tandem::td
