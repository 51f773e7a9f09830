#include "graph/ir/norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ir/build.h"
#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"

#define GET_OP_CLASSES
#include "graph/ir/norm.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

void TdDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/norm.cc.inc"
      >();
}

namespace {

Value SumRows(OpBuilder& b, Location loc, Value x) {
  return BuildReduce(b, loc, ReduceKind::kSum, x, {TypeOf(x).getRank() - 1});
}

// Returns x minus the maximum of its row, so that exp of it is at most 1.
Value Shifted(OpBuilder& b, Location loc, Value x) {
  Value max = BuildReduce(b, loc, ReduceKind::kMax, x, {TypeOf(x).getRank() - 1});
  return BuildSub(b, loc, x, BuildAlongRows(b, loc, max, x));
}

Value DecomposeLogSoftmax(OpBuilder& b, Location loc, Value logits) {
  Value shifted = Shifted(b, loc, logits);
  Value log_sum = BuildLog(b, loc, SumRows(b, loc, BuildExp(b, loc, shifted)));
  return BuildSub(b, loc, shifted, BuildAlongRows(b, loc, log_sum, logits));
}

// Returns a boolean tensor [b, n] that is true at the class that is the row's label; `labels` is [b].
Value IsLabel(OpBuilder& b, Location loc, Value labels, Value logits) {
  auto type = RankedTensorType::get(TypeOf(logits).getShape(), TypeOf(labels).getElementType());
  mlir::OperationState iota(loc, "td.iota");
  iota.addAttribute("axis", b.getI64IntegerAttr(type.getRank() - 1));
  iota.addTypes(type);
  Value classes = b.create(iota)->getResult(0);
  return BuildCompare(b, loc, ComparePredicate::kEq, BuildBroadcast(b, loc, labels, type, LeadingAxes(logits)),
                      classes);
}

// Converts labels [b] to [b, n]: 1 at the class that is the row's label, else 0.
Value OneHot(OpBuilder& b, Location loc, Value labels, Value logits) {
  return BuildCast(b, loc, IsLabel(b, loc, labels, logits), TypeOf(logits).getElementType());
}

// Returns log(sum(exp(x_i))) of the n numbers from x on.
double LogSumExp(const double* x, int64_t n) {
  double max = *std::max_element(x, x + n), sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - max);
  return max + std::log(sum);
}

// Fails unless the last axis, the classes, is not the batch.
llvm::LogicalResult CheckClasses(std::optional<Location> loc, Value logits) {
  RankedTensorType type = TypeOf(logits);
  if (type.getRank() == 0 || mlir::ShapedType::isDynamic(type.getShape().back())) {
    return emitOptionalError(loc, "logits ", Str(logits), " have no classes: the last axis must not be the batch");
  }
  return success();
}

llvm::LogicalResult InferLoss(std::optional<Location> loc, mlir::ValueRange operands, bool sparse,
                              llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType labels = TypeOf(operands[0]), logits = TypeOf(operands[1]);
  if (failed(CheckClasses(loc, operands[1]))) return mlir::failure();
  llvm::ArrayRef<int64_t> rows = logits.getShape().drop_back();
  if (labels.getShape() != (sparse ? rows : logits.getShape())) {
    return emitOptionalError(loc, "labels ", Str(operands[0]), " do not fit logits ", Str(operands[1]),
                             sparse ? ": one integer per example is needed" : ": equal shapes are needed");
  }
  if (!sparse && labels.getElementType() != logits.getElementType()) {
    return emitOptionalError(loc, "labels are ", labels.getElementType(), ", but logits are ", logits.getElementType(),
                             "; cast the labels");
  }
  types.push_back(RankedTensorType::get(rows, logits.getElementType()));
  return success();
}

}  // namespace

// td.softmax

llvm::LogicalResult SoftmaxOp::verify() { return CheckClasses(getLoc(), getLogits()); }
BatchRule SoftmaxOp::getBatchRule() { return BatchRule::kPerExample; }

absl::Status SoftmaxOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                 std::vector<RefTensor>& results) {
  results[0] = *operands[0];
  int64_t n = results[0].shape.back();
  for (size_t row = 0; n > 0 && row < results[0].values.size(); row += n) {
    double* x = &results[0].values[row];
    double lse = LogSumExp(x, n);
    for (int64_t i = 0; i < n; ++i) x[i] = std::exp(x[i] - lse);
  }
  return absl::OkStatus();
}

// dx = y (dy - sum(dy y)).
llvm::LogicalResult SoftmaxOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                             llvm::SmallVectorImpl<Value>& operand_grads) {
  Value y = getOutput(), dy = grads[0];
  Value dot = SumRows(b, getLoc(), BuildMul(b, getLoc(), dy, y));
  operand_grads[0] = BuildMul(b, getLoc(), y, BuildSub(b, getLoc(), dy, BuildAlongRows(b, getLoc(), dot, y)));
  return success();
}

void SoftmaxOp::decompose(OpBuilder& b, llvm::SmallVectorImpl<Value>& results) {
  Value e = BuildExp(b, getLoc(), Shifted(b, getLoc(), getLogits()));
  results.push_back(BuildDiv(b, getLoc(), e, BuildAlongRows(b, getLoc(), SumRows(b, getLoc(), e), e)));
}

// td.log_softmax

llvm::LogicalResult LogSoftmaxOp::verify() { return CheckClasses(getLoc(), getLogits()); }
BatchRule LogSoftmaxOp::getBatchRule() { return BatchRule::kPerExample; }

absl::Status LogSoftmaxOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                    std::vector<RefTensor>& results) {
  results[0] = *operands[0];
  int64_t n = results[0].shape.back();
  for (size_t row = 0; n > 0 && row < results[0].values.size(); row += n) {
    double* x = &results[0].values[row];
    double lse = LogSumExp(x, n);
    for (int64_t i = 0; i < n; ++i) x[i] -= lse;
  }
  return absl::OkStatus();
}

// dx = dy - softmax sum(dy).
llvm::LogicalResult LogSoftmaxOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                                llvm::SmallVectorImpl<Value>& operand_grads) {
  Value dy = grads[0], softmax = BuildExp(b, getLoc(), getOutput());
  Value sum = BuildAlongRows(b, getLoc(), SumRows(b, getLoc(), dy), dy);
  operand_grads[0] = BuildSub(b, getLoc(), dy, BuildMul(b, getLoc(), softmax, sum));
  return success();
}

void LogSoftmaxOp::decompose(OpBuilder& b, llvm::SmallVectorImpl<Value>& results) {
  results.push_back(DecomposeLogSoftmax(b, getLoc(), getLogits()));
}

// td.softmax_cross_entropy

llvm::LogicalResult SoftmaxCrossEntropyOp::inferReturnTypes(mlir::MLIRContext*, std::optional<Location> loc,
                                                            mlir::ValueRange operands, mlir::DictionaryAttr,
                                                            mlir::OpaqueProperties, mlir::RegionRange,
                                                            llvm::SmallVectorImpl<mlir::Type>& types) {
  return InferLoss(loc, operands, /*sparse=*/false, types);
}

BatchRule SoftmaxCrossEntropyOp::getBatchRule() { return BatchRule::kPerExample; }

absl::Status SoftmaxCrossEntropyOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                             std::vector<RefTensor>& results) {
  const RefTensor &labels = *operands[0], &logits = *operands[1];
  int64_t n = logits.shape.back();
  RefTensor loss = MakeResult(getType(), context.batch);
  loss.shape = Shape(logits.shape.begin(), logits.shape.end() - 1);
  loss.values.assign(NumElements(loss.shape), 0);
  for (size_t row = 0; row < loss.values.size(); ++row) {
    double lse = LogSumExp(&logits.values[row * n], n);
    for (int64_t i = 0; i < n; ++i) {
      double label = labels.values[row * n + i];
      if (label != 0) loss.values[row] -= label * (logits.values[row * n + i] - lse);
    }
  }
  results[0] = std::move(loss);
  return absl::OkStatus();
}

// dlogits = (softmax sum(labels) - labels) dloss, dlabels = -log_softmax dloss.
llvm::LogicalResult SoftmaxCrossEntropyOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                                         llvm::SmallVectorImpl<Value>& operand_grads) {
  Location loc = getLoc();
  Value softmax = b.create<SoftmaxOp>(loc, getLogits());
  Value sum = BuildAlongRows(b, loc, SumRows(b, loc, getLabels()), softmax);
  Value difference = BuildSub(b, loc, BuildMul(b, loc, softmax, sum), getLabels());
  Value dloss = BuildAlongRows(b, loc, grads[0], softmax);
  // For a masked class (logit -inf) log_softmax is -inf. Its label is always 0, so its label's gradient is set to 0: an
  // infinite gradient would become NaN as soon as it is multiplied by 0.
  Value log_softmax = b.create<LogSoftmaxOp>(loc, getLogits());
  Value masked = BuildCompare(b, loc, ComparePredicate::kEq, log_softmax,
                              BuildSplat(b, loc, log_softmax.getType(), -std::numeric_limits<double>::infinity()));
  Value zero = BuildSplat(b, loc, log_softmax.getType(), 0);
  operand_grads[0] = BuildSelect(b, loc, masked, zero, BuildNeg(b, loc, BuildMul(b, loc, log_softmax, dloss)));
  operand_grads[1] = BuildMul(b, loc, difference, dloss);
  return success();
}

void SoftmaxCrossEntropyOp::decompose(OpBuilder& b, llvm::SmallVectorImpl<Value>& results) {
  Value log_softmax = DecomposeLogSoftmax(b, getLoc(), getLogits());
  // A class whose label is 0 adds nothing, even if it is masked (logit -inf): 0 times -inf would be NaN.
  Value zero = BuildSplat(b, getLoc(), getLogits().getType(), 0);
  Value weighted = BuildCompare(b, getLoc(), ComparePredicate::kNe, getLabels(), zero);
  Value product = BuildMul(b, getLoc(), getLabels(), log_softmax);
  results.push_back(BuildNeg(b, getLoc(), SumRows(b, getLoc(), BuildSelect(b, getLoc(), weighted, product, zero))));
}

// td.sparse_softmax_cross_entropy

llvm::LogicalResult SparseSoftmaxCrossEntropyOp::inferReturnTypes(mlir::MLIRContext*, std::optional<Location> loc,
                                                                  mlir::ValueRange operands, mlir::DictionaryAttr,
                                                                  mlir::OpaqueProperties, mlir::RegionRange,
                                                                  llvm::SmallVectorImpl<mlir::Type>& types) {
  return InferLoss(loc, operands, /*sparse=*/true, types);
}

BatchRule SparseSoftmaxCrossEntropyOp::getBatchRule() { return BatchRule::kPerExample; }

absl::Status SparseSoftmaxCrossEntropyOp::evaluate(absl::Span<const RefTensor* const> operands,
                                                   const RefContext& context, std::vector<RefTensor>& results) {
  const RefTensor &labels = *operands[0], &logits = *operands[1];
  int64_t n = logits.shape.back();
  RefTensor loss = MakeResult(getType(), context.batch);
  loss.shape = labels.shape;
  loss.values.assign(labels.values.size(), 0);
  for (size_t row = 0; row < loss.values.size(); ++row) {
    int64_t label = static_cast<int64_t>(labels.values[row]);
    const bool known = label >= 0 && label < n;
    loss.values[row] = known ? LogSumExp(&logits.values[row * n], n) - logits.values[row * n + label]
                             : std::numeric_limits<double>::quiet_NaN();
  }
  results[0] = std::move(loss);
  return absl::OkStatus();
}

// dlogits = (softmax - one_hot(labels)) dloss.
llvm::LogicalResult SparseSoftmaxCrossEntropyOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                                               llvm::SmallVectorImpl<Value>& operand_grads) {
  Location loc = getLoc();
  Value softmax = b.create<SoftmaxOp>(loc, getLogits());
  Value difference = BuildSub(b, loc, softmax, OneHot(b, loc, getLabels(), softmax));
  operand_grads[1] = BuildMul(b, loc, difference, BuildAlongRows(b, loc, grads[0], softmax));
  return success();
}

void SparseSoftmaxCrossEntropyOp::decompose(OpBuilder& b, llvm::SmallVectorImpl<Value>& results) {
  Location loc = getLoc();
  // logsumexp - logits[label], both shifted by the row's maximum.
  Value shifted = Shifted(b, loc, getLogits());
  Value log_sum = BuildLog(b, loc, SumRows(b, loc, BuildExp(b, loc, shifted)));
  // Selects instead of multiplying by 0 and 1: a masked class has the logit -inf.
  Value zero = BuildSplat(b, loc, getLogits().getType(), 0);
  Value picked = SumRows(b, loc, BuildSelect(b, loc, IsLabel(b, loc, getLabels(), getLogits()), shifted, zero));
  Value loss = BuildSub(b, loc, log_sum, picked);
  // A label that is no class gives the loss NaN, so that the step's finite check fails and names this op.
  Value labels = getLabels(), first = BuildSplat(b, loc, labels.getType(), 0);
  Value last = BuildSplat(b, loc, labels.getType(), static_cast<double>(TypeOf(getLogits()).getShape().back() - 1));
  Value none = BuildSplat(b, loc, loss.getType(), std::numeric_limits<double>::quiet_NaN());
  loss = BuildSelect(b, loc, BuildCompare(b, loc, ComparePredicate::kGe, labels, first), loss, none);
  results.push_back(BuildSelect(b, loc, BuildCompare(b, loc, ComparePredicate::kLe, labels, last), loss, none));
}

// td.batch_moments

llvm::LogicalResult BatchMomentsOp::inferReturnTypes(mlir::MLIRContext*, std::optional<Location> loc,
                                                     mlir::ValueRange operands, mlir::DictionaryAttr,
                                                     mlir::OpaqueProperties, mlir::RegionRange,
                                                     llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType x = TypeOf(operands[0]);
  if (x.getRank() < 2)
    return emitOptionalError(loc, "input ", Str(operands[0]), " needs a batch and a channel dimension");
  if (TypeOf(operands[1]).getRank() != 0)
    return emitOptionalError(loc, "the count must be a scalar, not ", Str(operands[1]));
  auto type = RankedTensorType::get({x.getShape().back()}, x.getElementType());
  types.append(2, type);
  return success();
}

BatchRule BatchMomentsOp::getBatchRule() { return BatchRule::kStatistic; }

absl::Status BatchMomentsOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext&,
                                      std::vector<RefTensor>& results) {
  const RefTensor& x = *operands[0];
  int64_t n = x.shape.back(), rows = n == 0 ? 0 : static_cast<int64_t>(x.values.size()) / n;
  RefTensor mean = MakeResult(getMean().getType(), 0), variance = mean;
  for (size_t i = 0; i < x.values.size(); ++i) mean.values[i % n] += x.values[i] / rows;
  for (size_t i = 0; i < x.values.size(); ++i) {
    double d = x.values[i] - mean.values[i % n];
    variance.values[i % n] += d * d / rows;
  }
  results[0] = std::move(mean);
  results[1] = std::move(variance);
  return absl::OkStatus();
}

Value BuildElementsOfChannel(OpBuilder& b, Location loc, Value x, Value count, RankedTensorType type) {
  double inner = 1;
  for (int64_t d : TypeOf(x).getShape().drop_front().drop_back()) inner *= d;
  Value rows = BuildCast(b, loc, count, type.getElementType());
  return BuildMul(b, loc, BuildBroadcast(b, loc, rows, type, {}), inner);
}

// dx = dmean / N + 2 dvariance (x - mean) / N.
llvm::LogicalResult BatchMomentsOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                                  llvm::SmallVectorImpl<Value>& operand_grads) {
  Location loc = getLoc();
  Value x = getInput();
  int64_t last = TypeOf(x).getRank() - 1;
  Value n = BuildElementsOfChannel(b, loc, x, getCount(), TypeOf(getMean()));
  Value dx;
  if (grads[0]) dx = BuildBroadcast(b, loc, BuildDiv(b, loc, grads[0], n), x.getType(), {last});
  if (grads[1]) {
    Value scale = BuildBroadcast(b, loc, BuildMul(b, loc, BuildDiv(b, loc, grads[1], n), 2.0), x.getType(), {last});
    Value centred = BuildSub(b, loc, x, BuildBroadcast(b, loc, getMean(), x.getType(), {last}));
    Value from_variance = BuildMul(b, loc, scale, centred);
    dx = dx ? BuildAdd(b, loc, dx, from_variance) : from_variance;
  }
  operand_grads[0] = dx;
  return success();
}

void BatchMomentsOp::decompose(OpBuilder& b, llvm::SmallVectorImpl<Value>& results) {
  Location loc = getLoc();
  Value x = getInput();
  int64_t last = TypeOf(x).getRank() - 1;
  Value n = BuildElementsOfChannel(b, loc, x, getCount(), TypeOf(getMean()));
  Value mean = BuildDiv(b, loc, BuildReduce(b, loc, ReduceKind::kSum, x, LeadingAxes(x), getScope()), n);
  Value centred = BuildSub(b, loc, x, BuildBroadcast(b, loc, mean, x.getType(), {last}));
  Value squares = BuildReduce(b, loc, ReduceKind::kSum, BuildMul(b, loc, centred, centred), LeadingAxes(x), getScope());
  results.push_back(mean);
  results.push_back(BuildDiv(b, loc, squares, n));
}

}  // namespace tandem::td
