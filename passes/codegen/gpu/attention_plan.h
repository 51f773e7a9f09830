// Finds the kernels of a GPU program that are attention, and plans how blocks of threads share out their work.
#ifndef TANDEM_PASSES_CODEGEN_GPU_ATTENTION_PLAN_H_
#define TANDEM_PASSES_CODEGEN_GPU_ATTENTION_PLAN_H_

#include <cstdint>
#include <optional>

#include "graph/ir/attention_shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/codegen/gpu/matrix_tiles.h"

namespace tandem {

// The largest size of a head (numbers per position) for which there are kernels.
inline constexpr int64_t kMostHeadNumbers = 128;

// Returns the type of the factors in the products of a kernel of td.attention or td.attention_grad; nothing for other
// kernels. `arch`: the architecture of the oldest GPU that is to run the kernel.
std::optional<Factors> AttentionFactors(mlir::func::FuncOp kernel, int arch);

// The numbers that a block of the gradient keeps in shared memory for each query.
enum Statistic { kLargest, kReciprocal, kDot, kStatistics };

// How attention is shared out. A block of threads computes the results of `own` rows: queries of a head or, in the
// gradient, keys. It reads all rows of the other kind through shared memory, `others` rows at a time.
struct AttentionPlan {
  AttentionPlan(const AttentionShape& shape, Factors factors, bool gradient);

  int64_t threads() const { return own / kWarpRows * kWarp; }
  int64_t BlocksOf(int64_t positions) const { return (positions + own - 1) / own; }

  Factors factors;
  int64_t own = 0, others = 0;
  int64_t shared_bytes = 0;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_ATTENTION_PLAN_H_
