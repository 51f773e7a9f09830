#include "graph/ir/unary.h"

#include <algorithm>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define GET_OP_CLASSES
#include "graph/ir/unary.cc.inc"

namespace tandem::td {

void TdDialect::registerUnaryOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/unary.cc.inc"
      >();
}

BatchRule ReluOp::getBatchRule() { return BatchRule::kPerExample; }
FusionKind ReluOp::getFusionKind() { return FusionKind::kElementwise; }

mlir::Value ReluOp::emitElement(ElementalContext& c, unsigned, mlir::ValueRange indices) {
  mlir::Value x = c.Operand(0, indices);
  auto zero = c.builder().create<mlir::arith::ConstantOp>(c.loc(), c.builder().getZeroAttr(x.getType()));
  return c.builder().create<mlir::arith::MaximumFOp>(c.loc(), x, zero);
}

absl::Status ReluOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                              std::vector<RefTensor>& results) {
  results[0] = *operands[0];
  for (double& v : results[0].values) v = std::max(v, 0.0);
  return absl::OkStatus();
}

llvm::LogicalResult ReluOp::buildGradient(mlir::OpBuilder&, mlir::ValueRange, llvm::SmallVectorImpl<mlir::Value>&) {
  return mlir::failure();
}

}  // namespace tandem::td
