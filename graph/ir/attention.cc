#include "graph/ir/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/ir/message.h"
#include "graph/ir/reference_util.h"

#define GET_OP_CLASSES
#include "graph/ir/attention.cc.inc"

namespace tandem::td {

using mlir::emitOptionalError;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;

void TdDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/attention.cc.inc"
      >();
}

AttentionShape AttentionShapeOf(Value query, Value key, Value value, bool heads_inside) {
  const unsigned position = heads_inside ? 1 : 2;
  AttentionShape s;
  s.heads = TypeOf(query).getDimSize(3 - position);
  s.queries = TypeOf(query).getDimSize(position);
  s.keys = TypeOf(key).getDimSize(position);
  s.size = TypeOf(query).getDimSize(3);
  s.value_size = TypeOf(value).getDimSize(3);
  s.heads_inside = heads_inside;
  return s;
}

namespace {

RankedTensorType TypeLike(Value value, llvm::ArrayRef<int64_t> rest) {
  llvm::SmallVector<int64_t> shape = {TypeOf(value).getDimSize(0)};
  shape.append(rest.begin(), rest.end());
  return RankedTensorType::get(shape, TypeOf(value).getElementType());
}

// Returns the type of a tensor of `query`'s element type with `positions` rows of `width` numbers for each head.
RankedTensorType RowsType(Value query, const AttentionShape& s, int64_t positions, int64_t width) {
  return s.heads_inside ? TypeLike(query, {positions, s.heads, width}) : TypeLike(query, {s.heads, positions, width});
}

RankedTensorType StatisticType(Value query, const AttentionShape& s) {
  return mlir::cast<RankedTensorType>(
      TypeLike(query, {s.heads, s.queries}).clone(mlir::Float32Type::get(query.getContext())));
}

// Checks that the operands' shapes fit together. `keep` is null for an attention without a mask.
llvm::LogicalResult CheckOperands(std::optional<mlir::Location> loc, Value query, Value key, Value value, Value keep,
                                  bool heads_inside, bool causal) {
  if (llvm::any_of(ValueRange{query, key, value}, [](Value v) { return TypeOf(v).getRank() != 4; })) {
    return emitOptionalError(loc, "needs queries, keys and values of rank 4, not ", Str(query), ", ", Str(key), " and ",
                             Str(value));
  }
  const AttentionShape s = AttentionShapeOf(query, key, value, heads_inside);
  if (key.getType() != RowsType(query, s, s.keys, s.size) ||
      value.getType() != RowsType(query, s, s.keys, s.value_size)) {
    return emitOptionalError(loc, "keys ", Str(key), " and values ", Str(value), " do not fit queries ", Str(query));
  }
  if (causal && s.keys != s.queries) {
    return emitOptionalError(loc, "is causal, and has ", s.keys, " keys for ", s.queries,
                             " queries: as many are needed");
  }
  if (!keep) return mlir::success();
  const llvm::ArrayRef<int64_t> kept = TypeOf(keep).getShape();
  if (kept != TypeLike(query, {s.keys}).getShape() && kept != TypeLike(query, {s.queries, s.keys}).getShape()) {
    return emitOptionalError(loc, "keep ", Str(keep), " has no place for each key, or each query and key, of ",
                             Str(query), " and ", Str(key));
  }
  return mlir::success();
}

// Accesses one head of one example as a matrix.
struct HeadRows {
  HeadRows(const RefTensor& t, const AttentionShape& s, int64_t positions, int64_t example, int64_t head)
      : stride(s.position_stride(t.shape.back())),
        first((example * s.heads * positions) * t.shape.back() + head * s.head_stride(positions, t.shape.back())) {}
  int64_t At(int64_t row, int64_t column) const { return first + row * stride + column; }
  int64_t stride, first;
};

struct ScoreRule {
  const AttentionShape& s;
  double scale, low;
  bool causal;
  const RefTensor* keep;  // the mask; null if there is none

  bool Kept(int64_t example, int64_t i, int64_t j) const {
    if (keep == nullptr) return true;
    const int64_t row = keep->shape.size() == 2 ? example : example * s.queries + i;
    return keep->values[row * s.keys + j] != 0 && (!causal || j <= i);
  }
  // Turns `x`, the products of query i with all keys, into the weights of these keys: scaled, masked, softmax.
  std::vector<double> Weights(int64_t example, int64_t i, std::vector<double> x, double* largest, double* sum) const {
    for (int64_t j = 0; j < s.keys; ++j) {
      x[j] *= scale;
      if (!Kept(example, i, j)) x[j] = low;
      if (keep == nullptr && causal && j > i) x[j] = -std::numeric_limits<double>::infinity();
    }
    *largest = *std::max_element(x.begin(), x.end());
    *sum = 0;
    for (double& v : x) *sum += v = std::exp(v - *largest);
    for (double& v : x) v /= *sum;
    return x;
  }
};

// Calls f(example, head, query, products of the query with its keys).
template <typename F>
void ForQueries(const AttentionShape& s, const RefTensor& query, const RefTensor& key, F f) {
  for (int64_t n = 0; n < query.shape[0]; ++n) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const HeadRows q(query, s, s.queries, n, h), k(key, s, s.keys, n, h);
      for (int64_t i = 0; i < s.queries; ++i) {
        std::vector<double> x(s.keys);
        for (int64_t j = 0; j < s.keys; ++j) {
          for (int64_t c = 0; c < s.size; ++c) x[j] += query.values[q.At(i, c)] * key.values[k.At(j, c)];
        }
        f(n, h, i, std::move(x));
      }
    }
  }
}

}  // namespace

llvm::LogicalResult AttentionOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                                  ValueRange operands, mlir::DictionaryAttr,
                                                  mlir::OpaqueProperties properties, mlir::RegionRange,
                                                  llvm::SmallVectorImpl<mlir::Type>& types) {
  const auto* p = properties.as<Properties*>();
  const bool heads_inside = static_cast<bool>(p->heads_inside), causal = static_cast<bool>(p->causal);
  const Value keep = operands.size() > 3 ? operands[3] : Value();
  if (failed(CheckOperands(loc, operands[0], operands[1], operands[2], keep, heads_inside, causal)))
    return mlir::failure();
  const AttentionShape s = AttentionShapeOf(operands[0], operands[1], operands[2], heads_inside);
  types.push_back(RowsType(operands[0], s, s.queries, s.value_size));
  types.append(2, StatisticType(operands[0], s));
  return mlir::success();
}

BatchRule AttentionOp::getBatchRule() { return BatchRule::kPerExample; }

PrecisionRule AttentionOp::getPrecisionRule() { return PrecisionRule::kAllow; }

int64_t AttentionOp::getFlops() {
  const AttentionShape s = AttentionShapeOf(getQuery(), getKey(), getValue(), getHeadsInside());
  return 2 * s.scores() * (s.size + s.value_size);
}

absl::Status AttentionOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                   std::vector<RefTensor>& results) {
  const AttentionShape s = AttentionShapeOf(getQuery(), getKey(), getValue(), getHeadsInside());
  const ScoreRule rule = {s, getScale().convertToDouble(), getLow().convertToDouble(), getCausal(),
                          getKeep() ? operands[3] : nullptr};
  for (int i = 0; i < 3; ++i) results[i] = MakeResult(getResult(i).getType(), context.batch);
  const RefTensor& value = *operands[2];
  ForQueries(s, *operands[0], *operands[1], [&](int64_t n, int64_t h, int64_t i, std::vector<double> x) {
    const int64_t statistic = (n * s.heads + h) * s.queries + i;
    const std::vector<double> p =
        rule.Weights(n, i, std::move(x), &results[1].values[statistic], &results[2].values[statistic]);
    const HeadRows v(value, s, s.keys, n, h), y(results[0], s, s.queries, n, h);
    for (int64_t j = 0; j < s.keys; ++j) {
      for (int64_t c = 0; c < s.value_size; ++c) results[0].values[y.At(i, c)] += p[j] * value.values[v.At(j, c)];
    }
  });
  return absl::OkStatus();
}

llvm::LogicalResult AttentionGradOp::inferReturnTypes(mlir::MLIRContext*, std::optional<mlir::Location> loc,
                                                      ValueRange operands, mlir::DictionaryAttr,
                                                      mlir::OpaqueProperties properties, mlir::RegionRange,
                                                      llvm::SmallVectorImpl<mlir::Type>& types) {
  const auto* p = properties.as<Properties*>();
  const bool heads_inside = static_cast<bool>(p->heads_inside), causal = static_cast<bool>(p->causal);
  const Value keep = operands.size() > 7 ? operands[7] : Value();
  if (failed(CheckOperands(loc, operands[0], operands[1], operands[2], keep, heads_inside, causal)))
    return mlir::failure();
  const AttentionShape s = AttentionShapeOf(operands[0], operands[1], operands[2], heads_inside);
  const mlir::Type output = RowsType(operands[0], s, s.queries, s.value_size),
                   statistic = StatisticType(operands[0], s);
  const mlir::Type wanted[] = {output, statistic, statistic, output};
  for (auto [operand, type] : llvm::zip(operands.drop_front(3), wanted)) {
    if (operand.getType() != type) return emitOptionalError(loc, "needs ", Str(type), ", not ", Str(operand));
  }
  for (Value operand : operands.take_front(3)) types.push_back(operand.getType());
  return mlir::success();
}

BatchRule AttentionGradOp::getBatchRule() { return BatchRule::kPerExample; }

PrecisionRule AttentionGradOp::getPrecisionRule() { return PrecisionRule::kAllow; }

int64_t AttentionGradOp::getFlops() {
  const AttentionShape s = AttentionShapeOf(getQuery(), getKey(), getValue(), getHeadsInside());
  return 2 * s.scores() * (3 * s.size + 2 * s.value_size);
}

absl::Status AttentionGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                       std::vector<RefTensor>& results) {
  const AttentionShape s = AttentionShapeOf(getQuery(), getKey(), getValue(), getHeadsInside());
  const ScoreRule rule = {s, getScale().convertToDouble(), getLow().convertToDouble(), getCausal(),
                          getKeep() ? operands[7] : nullptr};
  for (int i = 0; i < 3; ++i) results[i] = MakeResult(getResult(i).getType(), context.batch);
  const RefTensor &query = *operands[0], &key = *operands[1], &value = *operands[2], &dy = *operands[6];
  ForQueries(s, query, key, [&](int64_t n, int64_t h, int64_t i, std::vector<double> x) {
    double largest, sum, dot = 0;
    const std::vector<double> p = rule.Weights(n, i, std::move(x), &largest, &sum);
    const HeadRows q(query, s, s.queries, n, h), k(key, s, s.keys, n, h), v(value, s, s.keys, n, h);
    const HeadRows d(dy, s, s.queries, n, h);
    std::vector<double> dp(s.keys);
    for (int64_t j = 0; j < s.keys; ++j) {
      for (int64_t c = 0; c < s.value_size; ++c) {
        dp[j] += dy.values[d.At(i, c)] * value.values[v.At(j, c)];
        results[2].values[v.At(j, c)] += p[j] * dy.values[d.At(i, c)];
      }
      dot += p[j] * dp[j];
    }
    for (int64_t j = 0; j < s.keys; ++j) {
      const double ds = rule.Kept(n, i, j) ? rule.scale * p[j] * (dp[j] - dot) : 0;
      for (int64_t c = 0; c < s.size; ++c) {
        results[0].values[q.At(i, c)] += ds * key.values[k.At(j, c)];
        results[1].values[k.At(j, c)] += ds * query.values[q.At(i, c)];
      }
    }
  });
  return absl::OkStatus();
}

}  // namespace tandem::td
