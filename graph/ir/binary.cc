#include "graph/ir/binary.h"

#include <cmath>

#include "graph/ir/build.h"
#include "graph/ir/reference_util.h"
#include "mlir/IR/Matchers.h"

namespace tandem::td {

// True if the relation holds for x and y; the reference of td.compare.
static bool Holds(ComparePredicate predicate, double x, double y) {
  switch (predicate) {
    case ComparePredicate::kEq:
      return x == y;
    case ComparePredicate::kNe:
      return x != y;
    case ComparePredicate::kLt:
      return x < y;
    case ComparePredicate::kLe:
      return x <= y;
    case ComparePredicate::kGt:
      return x > y;
    case ComparePredicate::kGe:
      break;
  }
  return x >= y;
}

}  // namespace tandem::td

#define GET_OP_CLASSES
#include "graph/ir/binary.cc.inc"

namespace tandem::td {

using mlir::OpFoldResult;
using mlir::Value;

void TdDialect::registerBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/binary.cc.inc"
      >();
}

llvm::LogicalResult CompareOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location>,
                                                mlir::ValueRange operands, mlir::DictionaryAttr, mlir::OpaqueProperties,
                                                mlir::RegionRange, llvm::SmallVectorImpl<mlir::Type>& types) {
  types.push_back(mlir::cast<mlir::RankedTensorType>(operands[0].getType()).clone(mlir::IntegerType::get(context, 1)));
  return mlir::success();
}

llvm::LogicalResult SelectOp::verify() {
  auto condition = mlir::cast<mlir::RankedTensorType>(getCondition().getType());
  auto value = mlir::cast<mlir::RankedTensorType>(getOutput().getType());
  if (condition.getShape() != value.getShape())
    return emitOpError() << "has a condition of another shape than its values: " << condition << ", " << value;
  return mlir::success();
}

// Folds identities. x * 0 stays: it is not 0 for an infinite x. x + 0 is folded although -0.0 + 0 is 0.0.
OpFoldResult AddOp::fold(FoldAdaptor) {
  if (IsSplat(getRhs(), 0)) return getLhs();
  if (IsSplat(getLhs(), 0)) return getRhs();
  return {};
}
OpFoldResult SubOp::fold(FoldAdaptor) { return IsSplat(getRhs(), 0) ? getLhs() : OpFoldResult(); }
OpFoldResult MulOp::fold(FoldAdaptor) {
  if (IsSplat(getRhs(), 1)) return getLhs();
  if (IsSplat(getLhs(), 1)) return getRhs();
  return {};
}
OpFoldResult DivOp::fold(FoldAdaptor) { return IsSplat(getRhs(), 1) ? getLhs() : OpFoldResult(); }
OpFoldResult PowOp::fold(FoldAdaptor) { return IsSplat(getRhs(), 1) ? getLhs() : OpFoldResult(); }
OpFoldResult MaxOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? getLhs() : OpFoldResult(); }
OpFoldResult MinOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? getLhs() : OpFoldResult(); }
OpFoldResult AndOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? getLhs() : OpFoldResult(); }
OpFoldResult OrOp::fold(FoldAdaptor) { return getLhs() == getRhs() ? getLhs() : OpFoldResult(); }
OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getLhs() == getRhs() || IsSplat(getCondition(), 1)) return getLhs();
  if (IsSplat(getCondition(), 0)) return getRhs();
  return {};
}

// TD_GRADIENT(Op, dx, dy) defines Op::buildGradient by two expressions. In them `g` is the gradient of the result `z`;
// `x` and `y` are the operands.
#define TD_GRADIENT(Op, dx_expr, dy_expr)                                              \
  llvm::LogicalResult Op::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,    \
                                        llvm::SmallVectorImpl<Value>& operand_grads) { \
    [[maybe_unused]] Value g = grads[0], z = getResult(), x = getLhs(), y = getRhs();  \
    [[maybe_unused]] mlir::Location l = getLoc();                                      \
    operand_grads[0] = dx_expr;                                                        \
    operand_grads[1] = dy_expr;                                                        \
    return mlir::success();                                                            \
  }

TD_GRADIENT(AddOp, g, g)
TD_GRADIENT(SubOp, g, BuildNeg(b, l, g))
TD_GRADIENT(MulOp, BuildMul(b, l, g, y), BuildMul(b, l, g, x))
TD_GRADIENT(DivOp, BuildDiv(b, l, g, y), BuildNeg(b, l, BuildDiv(b, l, BuildMul(b, l, g, z), y)))

#undef TD_GRADIENT

namespace {

// The gradient goes to the larger (or smaller) operand; x wins a tie, as in TensorFlow.
void WinnerGradients(mlir::OpBuilder& b, mlir::Location l, ComparePredicate wins, Value x, Value y, Value g,
                     llvm::SmallVectorImpl<Value>& gradients) {
  Value zero = BuildSplat(b, l, g.getType(), 0);
  Value first = BuildCompare(b, l, wins, x, y);
  gradients[0] = BuildSelect(b, l, first, g, zero);
  gradients[1] = BuildSelect(b, l, first, zero, g);
}

// True if an element of y may be 0, as far as is known while the graph is built.
bool MayBeZero(Value y) {
  while (y.getDefiningOp() && y.getDefiningOp()->getName().getStringRef() == "td.broadcast") {
    y = y.getDefiningOp()->getOperand(0);
  }
  mlir::DenseFPElementsAttr constant;
  if (!mlir::matchPattern(y, mlir::m_Constant(&constant))) return true;
  return llvm::any_of(constant.getValues<llvm::APFloat>(), [](const llvm::APFloat& v) { return v.isZero(); });
}

}  // namespace

llvm::LogicalResult MaxOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                         llvm::SmallVectorImpl<Value>& operand_grads) {
  WinnerGradients(b, getLoc(), ComparePredicate::kGe, getLhs(), getRhs(), grads[0], operand_grads);
  return mlir::success();
}

llvm::LogicalResult MinOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                         llvm::SmallVectorImpl<Value>& operand_grads) {
  WinnerGradients(b, getLoc(), ComparePredicate::kLe, getLhs(), getRhs(), grads[0], operand_grads);
  return mlir::success();
}

// x^0 is 1 everywhere, but 0 times x^-1 is NaN at 0. A constant without a 0 in it needs no select.
llvm::LogicalResult PowOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                         llvm::SmallVectorImpl<Value>& operand_grads) {
  Value g = grads[0], x = getLhs(), y = getRhs(), z = getOutput();
  mlir::Location l = getLoc();
  Value zero = BuildSplat(b, l, x.getType(), 0), one = BuildSplat(b, l, x.getType(), 1);
  Value power = IsSplat(y, 2) ? x : BuildPow(b, l, x, BuildAdd(b, l, y, -1));
  operand_grads[0] = BuildMul(b, l, g, BuildMul(b, l, y, power));
  if (MayBeZero(y)) {
    Value flat = BuildCompare(b, l, ComparePredicate::kEq, y, zero);
    operand_grads[0] = BuildSelect(b, l, flat, zero, operand_grads[0]);
  }
  // Takes the log only where it is defined, so that no NaN from the other side gets through the select.
  Value positive = BuildCompare(b, l, ComparePredicate::kGt, x, zero);
  Value log = BuildLog(b, l, BuildSelect(b, l, positive, x, one));
  operand_grads[1] = BuildSelect(b, l, positive, BuildMul(b, l, g, BuildMul(b, l, z, log)), zero);
  return mlir::success();
}

llvm::LogicalResult SelectOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                            llvm::SmallVectorImpl<Value>& operand_grads) {
  Value zero = BuildSplat(b, getLoc(), grads[0].getType(), 0);
  operand_grads[1] = BuildSelect(b, getLoc(), getCondition(), grads[0], zero);
  operand_grads[2] = BuildSelect(b, getLoc(), getCondition(), zero, grads[0]);
  return mlir::success();
}

}  // namespace tandem::td
