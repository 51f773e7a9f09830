#include "passes/base/channel_bias.h"

#include "graph/ir/shape.h"

namespace tandem {

mlir::Operation* OnlyUser(mlir::Value v) { return v.hasOneUse() ? *v.getUsers().begin() : nullptr; }

mlir::Value ChannelBiasOf(td::AddOp add, mlir::Value y) {
  auto broadcast = add->getOperand(add->getOperand(0) == y ? 1 : 0).getDefiningOp<td::BroadcastOp>();
  if (!broadcast) return nullptr;
  mlir::Value bias = broadcast->getOperand(0);
  mlir::RankedTensorType from = td::TypeOf(bias), to = td::TypeOf(y);
  if (from.getRank() != 1 || from.isDynamicDim(0) || from.getDimSize(0) != to.getShape().back()) return nullptr;
  llvm::ArrayRef<int64_t> dims = broadcast.getDims();
  return dims.size() == 1 && dims[0] == to.getRank() - 1 ? bias : nullptr;
}

}  // namespace tandem
