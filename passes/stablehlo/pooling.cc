// Translates pooling.
#include <algorithm>
#include <vector>

#include "graph/ir/pool.h"
#include "passes/stablehlo/translators.h"

namespace tandem::stablehlo {
namespace {

template <typename Op>
mlir::Value Pool(Op op, llvm::StringRef combine, Lowering& lowering) {
  return lowering.emitter().ReduceWindow(combine, lowering.Get(op.getX()), op.getWindow(), op.getStrides(),
                                         op.getPadLow(), op.getPadHigh(), lowering.TypeFor(op.getOutput()));
}

absl::StatusOr<mlir::Value> MaxPool(mlir::Operation* op, Lowering& lowering) {
  return Pool(mlir::cast<td::MaxPoolOp>(op), "maximum", lowering);
}

// Returns how many elements of each window along an axis lie inside the image.
std::vector<int64_t> ElementsInside(int64_t size, int64_t windows, int64_t window, int64_t stride, int64_t low) {
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t begin = i * stride - low;
    counts.push_back(std::min(begin + window, size) - std::max<int64_t>(begin, 0));
  }
  return counts;
}

// The divisor of a window is the number of its elements inside the image.
absl::StatusOr<mlir::Value> AvgPool(mlir::Operation* op, Lowering& lowering) {
  auto pool = mlir::cast<td::AvgPoolOp>(op);
  Emitter& emit = lowering.emitter();
  const mlir::RankedTensorType type = lowering.TypeFor(pool);
  std::vector<int64_t> inside[2];
  for (int i = 0; i < 2; ++i) {
    inside[i] = ElementsInside(TypeOf(pool.getX()).getDimSize(1 + i), type.getDimSize(1 + i), pool.getWindow()[i],
                               pool.getStrides()[i], pool.getPadLow()[i]);
  }
  std::vector<double> counts;
  for (const int64_t rows : inside[0]) {
    for (const int64_t columns : inside[1]) counts.push_back(static_cast<double>(rows * columns));
  }
  const mlir::Value divisors = emit.Numbers(
      counts, mlir::RankedTensorType::get({type.getDimSize(1), type.getDimSize(2)}, type.getElementType()));
  return emit.Same("divide", {Pool(pool, "add", lowering), emit.Broadcast(divisors, {1, 2}, type)});
}

}  // namespace

void AddPooling(TranslatorTable& table) {
  table["td.max_pool"] = MaxPool;
  table["td.avg_pool"] = AvgPool;
}

}  // namespace tandem::stablehlo
