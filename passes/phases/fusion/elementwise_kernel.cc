#include "passes/phases/fusion/elementwise_kernel.h"

#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/random.h"
#include "graph/ir/shape.h"

namespace tandem {

std::optional<llvm::ArrayRef<int64_t>> ElementwiseShape(mlir::func::FuncOp kernel) {
  if (kernel.getNumResults() == 0) return std::nullopt;
  const llvm::ArrayRef<int64_t> shape = mlir::cast<mlir::RankedTensorType>(kernel.getResultTypes()[0]).getShape();
  auto fits = [&](mlir::Type t) {
    auto type = mlir::cast<mlir::RankedTensorType>(t);
    return type.getRank() == 0 || type.getShape() == shape;
  };
  if (!llvm::all_of(kernel.getArgumentTypes(), fits)) return std::nullopt;
  for (mlir::Type t : kernel.getResultTypes()) {
    if (mlir::cast<mlir::RankedTensorType>(t).getShape() != shape) return std::nullopt;
  }
  for (mlir::Operation& op : kernel.getBody().front().without_terminator()) {
    if (!llvm::all_of(op.getResultTypes(), fits)) return std::nullopt;
    if (auto constant = mlir::dyn_cast<td::ConstantOp>(op)) {
      if (!mlir::cast<mlir::ElementsAttr>(constant.getValue()).isSplat()) return std::nullopt;
      continue;
    }
    // A random number depends on where in the tensor it is.
    if (mlir::isa<td::RandomUniformOp>(op) && td::TypeOf(op.getResult(0)).getRank() > 0) return std::nullopt;
    bool spread = mlir::isa<td::BroadcastOp>(op) && td::TypeOf(op.getOperand(0)).getRank() == 0;
    if (td::FusionKindOf(&op) != td::FusionKind::kElementwise && !spread) return std::nullopt;
  }
  return shape;
}

}  // namespace tandem
