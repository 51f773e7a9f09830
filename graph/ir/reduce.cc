#include "graph/ir/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ir/build.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "graph/ir/reduce.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

void TdDialect::registerReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/reduce.cc.inc"
      >();
}

// The dimensions of x that are not reduced.
static llvm::SmallVector<int64_t> Kept(int64_t rank, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d) {
    if (!llvm::is_contained(axes, d)) kept.push_back(d);
  }
  return kept;
}

llvm::LogicalResult ReduceOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                               mlir::ValueRange operands, mlir::DictionaryAttr,
                                               mlir::OpaqueProperties properties, mlir::RegionRange,
                                               llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType from = TypeOf(operands[0]);
  llvm::ArrayRef<int64_t> axes = properties.as<Properties*>()->axes.asArrayRef();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= from.getRank() || (i > 0 && axes[i] <= axes[i - 1]))
      return emitOptionalError(loc, "axes ", Str(axes), " must increase and be dimensions of ", Str(from));
  }
  llvm::SmallVector<int64_t> shape;
  for (int64_t d : Kept(from.getRank(), axes)) shape.push_back(from.getDimSize(d));
  types.push_back(from.clone(shape));
  return success();
}

mlir::OpFoldResult ReduceOp::fold(FoldAdaptor) { return getAxes().empty() ? getInput() : mlir::OpFoldResult(); }

// Merges two reductions of the same kind: a sum of sums is one sum, and so for max, min and prod. Not where the inner
// one reduces the batch and the outer one what is left: a reduction over the batch keeps its scope.
static llvm::LogicalResult MergeReductions(ReduceOp op, mlir::PatternRewriter& rewriter) {
  auto inner = op.getInput().getDefiningOp<ReduceOp>();
  if (!inner || !inner->hasOneUse() || inner.getKind() != op.getKind() || inner.getScope() != op.getScope() ||
      (IsBatched(inner.getInput().getType()) && !IsBatched(inner.getType())))
    return mlir::failure();
  llvm::SmallVector<int64_t> kept = Kept(TypeOf(inner.getInput()).getRank(), inner.getAxes());
  llvm::SmallVector<int64_t> axes(inner.getAxes());
  for (int64_t a : op.getAxes()) axes.push_back(kept[a]);
  llvm::sort(axes);
  rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), inner.getInput(), axes, op.getScope());
  return success();
}

// Returns -x; for integers -1 - x, because the least integer has no positive counterpart.
static Value Mirrored(mlir::OpBuilder& b, mlir::Location loc, Value x) {
  if (!TypeOf(x).getElementType().isInteger()) return BuildNeg(b, loc, x);
  return BuildSub(b, loc, BuildSplat(b, loc, x.getType(), -1), x);
}

// Replaces a min over the batch by the mirrored max of mirrored values, because microbatches and replicas are combined
// only by sum and max.
static llvm::LogicalResult MinOverBatchAsMax(ReduceOp op, mlir::PatternRewriter& rewriter) {
  if (op.getKind() != ReduceKind::kMin || op.getBatchRule() != BatchRule::kMixing) return mlir::failure();
  if (TypeOf(op.getInput()).getElementType().isUnsignedInteger()) return mlir::failure();
  mlir::Location l = op.getLoc();
  Value max =
      BuildReduce(rewriter, l, ReduceKind::kMax, Mirrored(rewriter, l, op.getInput()), op.getAxes(), op.getScope());
  rewriter.replaceOp(op, Mirrored(rewriter, l, max));
  return success();
}

void ReduceOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext*) {
  patterns.add(MergeReductions);
  patterns.add(MinOverBatchAsMax);
}

BatchRule ReduceOp::getBatchRule() {
  if (!IsBatched(getInput().getType()) || IsBatched(getOutput().getType())) return BatchRule::kPerExample;
  if (getKind() == ReduceKind::kSum) return BatchRule::kBatchSum;
  return getKind() == ReduceKind::kMax ? BatchRule::kBatchMax : BatchRule::kMixing;
}

namespace {

double Initial(ReduceKind kind) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (kind == ReduceKind::kSum) return 0;
  if (kind == ReduceKind::kProd) return 1;
  return kind == ReduceKind::kMax ? -kInf : kInf;
}

double Combined(ReduceKind kind, double x, double y) {
  if (kind == ReduceKind::kSum) return x + y;
  if (kind == ReduceKind::kProd) return x * y;
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  return kind == ReduceKind::kMax ? std::max(x, y) : std::min(x, y);
}

}  // namespace

absl::Status ReduceOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                std::vector<RefTensor>& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  const RefTensor& x = *operands[0];
  const ReduceKind kind = getKind();
  std::fill(r.values.begin(), r.values.end(), Initial(kind));
  llvm::SmallVector<int64_t> kept = Kept(static_cast<int64_t>(x.shape.size()), getAxes());
  Shape strides = Strides(r.shape);
  ForEachIndex(x.shape, [&](const Shape& index, int64_t i) {
    int64_t k = 0;
    for (size_t d = 0; d < kept.size(); ++d) k += index[kept[d]] * strides[d];
    r.values[k] = Combined(kind, r.values[k], x.values[i]);
  });
  results[0] = std::move(r);
  return absl::OkStatus();
}

llvm::LogicalResult ReduceOp::buildGradient(mlir::OpBuilder& b, mlir::ValueRange grads,
                                            llvm::SmallVectorImpl<Value>& operand_grads) {
  Value x = getInput();
  mlir::Location l = getLoc();
  llvm::SmallVector<int64_t> kept = Kept(TypeOf(x).getRank(), getAxes());
  if (getKind() == ReduceKind::kProd) return emitOpError() << "of kind \"prod\" has no gradient";
  if (getKind() == ReduceKind::kSum) {
    operand_grads[0] = BuildBroadcast(b, l, grads[0], x.getType(), kept);
    return success();
  }
  // All elements that are equal to the maximum (or minimum) share its gradient evenly.
  Value zero = BuildSplat(b, l, x.getType(), 0), one = BuildSplat(b, l, x.getType(), 1);
  Value hit = BuildCompare(b, l, ComparePredicate::kEq, x, BuildBroadcast(b, l, getOutput(), x.getType(), kept));
  Value count = BuildReduce(b, l, ReduceKind::kSum, BuildSelect(b, l, hit, one, zero), getAxes(), getScope());
  Value share = BuildBroadcast(b, l, BuildDiv(b, l, grads[0], count), x.getType(), kept);
  operand_grads[0] = BuildSelect(b, l, hit, share, zero);
  return success();
}

llvm::LogicalResult ArgMaxOp::inferReturnTypes(mlir::MLIRContext* context, std::optional<mlir::Location> loc,
                                               mlir::ValueRange operands, mlir::DictionaryAttr,
                                               mlir::OpaqueProperties properties, mlir::RegionRange,
                                               llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType from = TypeOf(operands[0]);
  int64_t axis = properties.as<Properties*>()->axis.getInt();
  if (axis < 0 || axis >= from.getRank())
    return emitOptionalError(loc, "axis ", axis, " is not a dimension of ", Str(from));
  llvm::SmallVector<int64_t> shape(from.getShape());
  shape.erase(shape.begin() + axis);
  types.push_back(RankedTensorType::get(shape, mlir::IntegerType::get(context, 64)));
  return success();
}

BatchRule ArgMaxOp::getBatchRule() {
  return getAxis() == 0 && IsBatched(getInput().getType()) ? BatchRule::kMixing : BatchRule::kPerExample;
}

absl::Status ArgMaxOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                std::vector<RefTensor>& results) {
  RefTensor r = MakeResult(getOutput().getType(), context.batch);
  const RefTensor& x = *operands[0];
  int64_t axis = getAxis(), n = x.shape[axis], inner = Strides(x.shape)[axis];
  for (size_t k = 0; k < r.values.size(); ++k) {
    int64_t base = static_cast<int64_t>(k) / inner * inner * n + static_cast<int64_t>(k) % inner;
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (x.values[base + i * inner] > x.values[base + best * inner]) best = i;
    }
    r.values[k] = static_cast<double>(best);
  }
  results[0] = std::move(r);
  return absl::OkStatus();
}

}  // namespace tandem::td
