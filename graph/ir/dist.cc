#include "graph/ir/dist.h"

#include "graph/ir/build.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.cc.inc"

namespace tandem::td {

void TdDialect::registerDistOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/dist.cc.inc"
      >();
}

bool CrossReplicaOp::variesByReplica(unsigned) { return false; }

llvm::LogicalResult CrossReplicaOp::verify() {
  if (IsBatched(getInput().getType())) return emitOpError() << "cannot combine the batched type " << getType();
  return mlir::success();
}

absl::Status CrossReplicaOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                      std::vector<RefTensor>& results) {
  results[0] = *operands[0];  // the interpreter runs one replica, whose value is the sum and the mean
  return absl::OkStatus();
}

// The gradient of each replica's part is the gradient of the result; for a mean, divided by the number of replicas that
// have rows.
llvm::LogicalResult CrossReplicaOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                                  llvm::SmallVectorImpl<mlir::Value>& operand_grads) {
  operand_grads[0] = grads[0];
  if (getKind() == CrossReplicaKind::kSum) return mlir::success();
  auto scalar = mlir::RankedTensorType::get({}, TypeOf(getInput()).getElementType());
  mlir::Value replicas = BuildCrossReplica(b, getLoc(), CrossReplicaKind::kSum, BuildSplat(b, getLoc(), scalar, 1));
  operand_grads[0] = BuildDiv(b, getLoc(), grads[0], BuildBroadcast(b, getLoc(), replicas, getType(), {}));
  return mlir::success();
}

void DropCrossReplica(CrossReplicaOp op) {
  if (mlir::Operation* maker = op.getInput().getDefiningOp()) {
    maker->setAttr(kRoundedAttr, mlir::UnitAttr::get(op.getContext()));
  }
  op.replaceAllUsesWith(op.getInput());
  op.erase();
}

}  // namespace tandem::td
