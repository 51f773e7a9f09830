#include "passes/exec/attention.h"

#include "graph/ir/attention.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "passes/exec/algorithm.h"
#include "passes/exec/attention_scratch.h"

#define GET_OP_CLASSES
#include "passes/exec/attention.cc.inc"

namespace tandem::exec {

using td::BatchRule;
using td::RefContext;
using td::RefTensor;

void ExecDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/attention.cc.inc"
      >();
}

AttentionShape ShapeOf(AttentionOp op) {
  return td::AttentionShapeOf(op.getQuery(), op.getKey(), op.getValue(), op.getHeadsInside());
}
AttentionShape ShapeOf(AttentionGradOp op) {
  return td::AttentionShapeOf(op.getQuery(), op.getKey(), op.getValue(), op.getHeadsInside());
}

mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const AttentionShape& shape, bool gradient) {
  return FloatScratchType(context, AttentionScratch(shape, gradient).floats);
}

namespace {

// Returns a temporary td op that computes the same, because td ops define types and semantics; null after an error.
template <typename TdOp, typename Op>
TdOp MakeSame(Op op) {
  typename TdOp::Properties same;
  const typename Op::Properties& p = op.getProperties();
  same.scale = p.scale;
  same.low = p.low;
  same.causal = p.causal;
  same.heads_inside = p.heads_inside;
  llvm::SmallVector<mlir::Type> types;
  if (mlir::failed(TdOp::inferReturnTypes(op.getContext(), op.getLoc(), op->getOperands(), {}, &same, {}, types))) {
    return nullptr;
  }
  mlir::OperationState state(op.getLoc(), TdOp::getOperationName(), op->getOperands(), types);
  state.getOrAddProperties<typename TdOp::Properties>() = same;
  return mlir::cast<TdOp>(mlir::OpBuilder(op.getContext()).create(state));
}

template <typename TdOp, typename Op>
llvm::LogicalResult Verify(Op op, bool gradient) {
  TdOp same = MakeSame<TdOp>(op);
  if (!same) return mlir::failure();
  llvm::SmallVector<mlir::Type> types(same->getResultTypes());
  same->erase();
  types.push_back(ScratchType(op.getContext(), ShapeOf(op), gradient));
  if (op->getResultTypes() == mlir::TypeRange(types)) return mlir::success();
  return op.emitOpError() << "gives " << types << ", not " << op->getResultTypes();
}

template <typename TdOp, typename Op>
absl::Status Evaluate(Op op, absl::Span<const RefTensor* const> operands, const RefContext& context,
                      std::vector<RefTensor>& results) {
  TdOp same = MakeSame<TdOp>(op);
  absl::Status status = same.evaluate(operands, context, results);
  same->erase();
  results.back() = td::MakeResult(op.getScratch().getType(), context.batch);
  return status;
}

template <typename TdOp, typename Op>
int64_t Flops(Op op) {
  TdOp same = MakeSame<TdOp>(op);
  const int64_t flops = same.getFlops();
  same->erase();
  return flops;
}

}  // namespace

llvm::LogicalResult AttentionOp::verify() { return Verify<td::AttentionOp>(*this, /*gradient=*/false); }
BatchRule AttentionOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t AttentionOp::getFlops() { return Flops<td::AttentionOp>(*this); }
absl::Status AttentionOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                   std::vector<RefTensor>& results) {
  return Evaluate<td::AttentionOp>(*this, operands, context, results);
}

llvm::LogicalResult AttentionGradOp::verify() { return Verify<td::AttentionGradOp>(*this, /*gradient=*/true); }
BatchRule AttentionGradOp::getBatchRule() { return BatchRule::kPerExample; }
int64_t AttentionGradOp::getFlops() { return Flops<td::AttentionGradOp>(*this); }
absl::Status AttentionGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                       std::vector<RefTensor>& results) {
  return Evaluate<td::AttentionGradOp>(*this, operands, context, results);
}

}  // namespace tandem::exec
