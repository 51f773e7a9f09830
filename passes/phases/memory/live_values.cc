#include "passes/phases/memory/live_values.h"

#include <algorithm>

#include "graph/ir/shape.h"
#include "passes/exec/dialect.h"

namespace tandem {

mlir::OpOperand* SharedOperand(mlir::OpResult result) {
  if (mlir::isa<td::ReshapeOp>(result.getOwner())) return &result.getOwner()->getOpOperand(0);
  auto command = mlir::dyn_cast<exec::CommandOp>(result.getOwner());
  return command ? command.getOperandInPlace(result.getResultNumber()) : nullptr;
}

BlockTimes::BlockTimes(mlir::Block& block) {
  for (mlir::Operation& op : block) times_.insert({&op, static_cast<int>(times_.size())});
}

LiveRange BlockTimes::RangeOf(mlir::OpResult result, int64_t bytes) const {
  const int first = times_.lookup(result.getOwner());
  return {bytes, first, std::max(first, LastUse(result))};
}

int BlockTimes::LastUse(mlir::Value value) const {
  int last = 0;
  for (mlir::Operation* user : value.getUsers()) {
    last = std::max(last, times_.lookup(user));
    for (mlir::OpResult result : user->getOpResults()) {
      const mlir::OpOperand* shared = SharedOperand(result);
      if (shared != nullptr && shared->get() == value) last = std::max(last, LastUse(result));
    }
  }
  return last;
}

}  // namespace tandem
