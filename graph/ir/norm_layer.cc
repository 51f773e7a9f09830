// td.layer_norm: types, reference semantics, gradient and the simpler ops that it can be replaced by.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/message.h"
#include "graph/ir/norm.h"
#include "graph/ir/reference_util.h"

namespace tandem::td {

using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

// Returns the mean over the last axis.
Value MeanRows(OpBuilder& b, Location l, Value x) {
  int64_t last = TypeOf(x).getRank() - 1;
  return BuildMul(b, l, BuildReduce(b, l, ReduceKind::kSum, x, {last}),
                  1.0 / static_cast<double>(TypeOf(x).getDimSize(last)));
}

}  // namespace

llvm::LogicalResult LayerNormOp::inferReturnTypes(mlir::MLIRContext*, std::optional<Location> loc,
                                                  mlir::ValueRange operands, mlir::DictionaryAttr,
                                                  mlir::OpaqueProperties properties, mlir::RegionRange,
                                                  llvm::SmallVectorImpl<mlir::Type>& types) {
  RankedTensorType x = TypeOf(operands[0]);
  if (x.getRank() == 0 || mlir::ShapedType::isDynamic(x.getShape().back()) || x.getShape().back() == 0) {
    return mlir::emitOptionalError(loc, "input ", Str(x),
                                   " has nothing to normalise over: the last axis must be neither the batch nor empty");
  }
  auto* p = properties.as<Properties*>();
  const double epsilon = p->epsilon.getValueAsDouble();
  if (!(epsilon >= 0)) {
    return mlir::emitOptionalError(loc, "needs an epsilon that is not negative, not ", absl::StrCat(epsilon));
  }
  types.push_back(x);
  types.push_back(RankedTensorType::get(x.getShape().drop_back(), x.getElementType()));
  return mlir::success();
}

BatchRule LayerNormOp::getBatchRule() { return BatchRule::kPerExample; }

absl::Status LayerNormOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                   std::vector<RefTensor>& results) {
  const RefTensor& x = *operands[0];
  RefTensor y = x, inverse = MakeResult(getInverseDeviation().getType(), context.batch);
  const int64_t n = x.shape.back();
  for (size_t row = 0; row < inverse.values.size(); ++row) {
    const double* from = &x.values[row * n];
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; ++i) mean += from[i] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) variance += (from[i] - mean) * (from[i] - mean) / static_cast<double>(n);
    inverse.values[row] = 1 / std::sqrt(variance + getEpsilon().convertToDouble());
    for (int64_t i = 0; i < n; ++i) y.values[row * n + i] = (from[i] - mean) * inverse.values[row];
  }
  results[0] = std::move(y);
  results[1] = std::move(inverse);
  return absl::OkStatus();
}

// With the normalised x called y and the inverse deviation r: dx = r (dy - mean(dy) - y mean(dy y)) - y r^2 dr / n.
llvm::LogicalResult LayerNormOp::buildGradient(OpBuilder& b, mlir::ValueRange grads,
                                               llvm::SmallVectorImpl<Value>& operand_grads) {
  Location l = getLoc();
  Value y = getNormalized(), r = getInverseDeviation(), dx;
  if (Value dy = grads[0]) {
    Value along = BuildAlongRows(b, l, MeanRows(b, l, BuildMul(b, l, dy, y)), y);
    Value centred = BuildSub(b, l, dy, BuildAlongRows(b, l, MeanRows(b, l, dy), y));
    dx = BuildMul(b, l, BuildAlongRows(b, l, r, y), BuildSub(b, l, centred, BuildMul(b, l, y, along)));
  }
  if (Value dr = grads[1]) {
    double n = static_cast<double>(TypeOf(y).getShape().back());
    Value row = BuildMul(b, l, BuildMul(b, l, dr, BuildMul(b, l, r, r)), -1 / n);
    Value part = BuildMul(b, l, y, BuildAlongRows(b, l, row, y));
    dx = dx ? BuildAdd(b, l, dx, part) : part;
  }
  operand_grads[0] = dx;
  return mlir::success();
}

void LayerNormOp::decompose(OpBuilder& b, llvm::SmallVectorImpl<Value>& results) {
  Location l = getLoc();
  Value x = getInput();
  Value centred = BuildSub(b, l, x, BuildAlongRows(b, l, MeanRows(b, l, x), x));
  Value variance = MeanRows(b, l, BuildMul(b, l, centred, centred));
  Value inverse = BuildRsqrt(b, l, BuildAdd(b, l, variance, getEpsilon().convertToDouble()));
  results.push_back(BuildMul(b, l, centred, BuildAlongRows(b, l, inverse, x)));
  results.push_back(inverse);
}

}  // namespace tandem::td
