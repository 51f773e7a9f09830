#include "passes/codegen/gpu/attention_plan.h"

#include <algorithm>

#include "graph/ir/attention.h"

namespace tandem {
namespace {

constexpr int64_t kDefaultSharedBytes = 48 << 10;  // shared memory that a block may use without an opt-in
constexpr int64_t kMostRows = 64;

// Returns the number of `others` rows from which on a smaller `own` does not help any more: the rows of one matrix
// instruction; or, with multiply-adds, as many rows as let a thread read about as many numbers as it multiplies.
int64_t EnoughOthers(Factors factors) { return factors == Factors::kFloat32 ? 32 : 16; }

// Returns the most rows of the other kind (keys, for a block of queries) whose scores fit into registers. In the
// gradient a block's sums are in registers too: for heads with more than 208 numbers in a query and a value together
// only 8 rows fit.
int64_t MostOthers(const AttentionShape& s, Factors factors, bool gradient) {
  return gradient && factors != Factors::kBFloat16 && s.size + s.value_size > 208 ? 8 : kMostRows;
}

int64_t SharedBytes(const AttentionShape& s, Factors factors, bool gradient, int64_t own, int64_t others) {
  const auto tile = [&](int64_t rows, int64_t size) { return MatrixTiles::TileBytes(factors, rows, size); };
  const int64_t taken = tile(others, s.size) + tile(others, s.value_size);
  if (gradient) {
    return tile(own, s.size) + tile(own, s.value_size) + taken + kStatistics * std::max(own, others) * 4;
  }
  // Queries for matrix instructions are held in registers, and only pass through the shared memory of the keys, as does
  // the output when it is stored.
  const int64_t queries = tile(own, s.size);
  return std::max(factors == Factors::kFloat32 ? queries + taken : std::max(queries, taken), tile(own, s.value_size));
}

}  // namespace

std::optional<Factors> AttentionFactors(mlir::func::FuncOp kernel, int arch) {
  mlir::Operation& op = kernel.getBody().front().front();
  bool tf32;
  if (auto forward = mlir::dyn_cast<td::AttentionOp>(op)) {
    tf32 = forward.getTf32();
  } else if (auto gradient = mlir::dyn_cast<td::AttentionGradOp>(op)) {
    tf32 = gradient.getTf32();
  } else {
    return std::nullopt;
  }
  if (td::TypeOf(op.getOperand(0)).getElementType().isBF16()) return Factors::kBFloat16;
  return tf32 && arch >= 80 ? Factors::kTensorFloat32 : Factors::kFloat32;
}

AttentionPlan::AttentionPlan(const AttentionShape& shape, Factors f, bool gradient) : factors(f) {
  const int64_t fewest = MatrixTiles::LeastRows(factors);
  for (own = kMostRows;; own /= 2) {
    others = MostOthers(shape, factors, gradient);
    while (others > fewest && SharedBytes(shape, factors, gradient, own, others) > kDefaultSharedBytes) others /= 2;
    if (others >= EnoughOthers(factors) || own == kMostRows / 2) break;
  }
  shared_bytes = SharedBytes(shape, factors, gradient, own, others);
}

}  // namespace tandem
