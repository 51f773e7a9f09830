#include "graph/ir/dist.h"

#include "graph/ir/build.h"
#include "mlir/IR/BuiltinOps.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.cc.inc"

namespace tandem::td {

void TdDialect::registerDistOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/dist.cc.inc"
      >();
}

llvm::LogicalResult MapShardsOp::verify() {
  size_t n = getNumResults();
  if (getReduce().size() != n || getScope().size() != n) {
    return emitOpError() << "has " << n << " results, but " << getReduce().size() << " reductions and "
                         << getScope().size() << " scopes";
  }
  mlir::Block& body = getBody().front();
  if (body.getArgumentTypes() != getOperandTypes()) {
    return emitOpError() << "has body arguments that differ from its operands";
  }
  auto yield = mlir::cast<YieldOp>(body.getTerminator());
  if (yield.getOperandTypes() != getResultTypes()) return emitOpError() << "yields types that differ from its results";
  if (getLanes() < 1 || getRowsPerLane() < 1 || getShardRows() < 1)
    return emitOpError() << "needs positive lanes, rows and shard";
  for (size_t i = 0; i < n; ++i) {
    llvm::StringRef kind = mlir::cast<mlir::StringAttr>(getReduce()[i]).getValue();
    bool batched = IsBatched(getResult(i).getType());
    if (kind != "sum" && kind != "max" && kind != "keep") return emitOpError() << "has the unknown reduction " << kind;
    if ((kind == "keep") != batched)
      return emitOpError() << "result " << i << " is reduced by " << kind << " but has type " << getResult(i).getType();
  }
  return mlir::success();
}

llvm::LogicalResult AllReduceOp::verify() {
  llvm::StringRef kind = getKind();
  if (kind != "sum" && kind != "max" && kind != "mean") return emitOpError() << "has the unknown kind " << kind;
  if (getOperandTypes() != getResultTypes()) return emitOpError() << "needs results of the operands' types";
  for (mlir::Type t : getOperandTypes()) {
    if (IsBatched(t)) return emitOpError() << "cannot reduce the batched type " << t;
  }
  return mlir::success();
}

llvm::LogicalResult CrossReplicaOp::verify() {
  if (IsBatched(getInput().getType())) return emitOpError() << "cannot combine the batched type " << getType();
  return mlir::success();
}

// With one replica there is nothing to combine.
llvm::LogicalResult CrossReplicaOp::canonicalize(CrossReplicaOp op, mlir::PatternRewriter& rewriter) {
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto replicas = module ? module->getAttrOfType<mlir::IntegerAttr>("td.replicas") : mlir::IntegerAttr();
  if (replicas && replicas.getInt() != 1) return mlir::failure();
  rewriter.replaceOp(op, op.getInput());
  return mlir::success();
}

absl::Status CrossReplicaOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                      std::vector<RefTensor>& results) {
  results[0] = *operands[0];  // one replica
  return absl::OkStatus();
}

// Of a sum every replica's part has the sum's gradient; of a mean its share, one part in as many as have rows.
llvm::LogicalResult CrossReplicaOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                                  llvm::SmallVectorImpl<mlir::Value>& operand_grads) {
  operand_grads[0] = grads[0];
  if (getKind() == "sum") return mlir::success();
  auto scalar = mlir::RankedTensorType::get({}, TypeOf(getInput()).getElementType());
  mlir::Value replicas = BuildCrossReplica(b, getLoc(), "sum", BuildSplat(b, getLoc(), scalar, 1));
  operand_grads[0] = BuildDiv(b, getLoc(), grads[0], BuildBroadcast(b, getLoc(), replicas, getType(), {}));
  return mlir::success();
}

}  // namespace tandem::td
