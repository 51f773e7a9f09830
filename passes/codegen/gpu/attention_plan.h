// Which kernels of a GPU program are attention, and how their blocks of threads share it out.
#ifndef TANDEM_PASSES_CODEGEN_GPU_ATTENTION_PLAN_H_
#define TANDEM_PASSES_CODEGEN_GPU_ATTENTION_PLAN_H_

#include <cstdint>
#include <optional>

#include "graph/ir/attention_shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/codegen/gpu/matrix_tiles.h"

namespace tandem {

// The most numbers of a head that kernels take.
inline constexpr int64_t kMostHeadNumbers = 128;

// What the products of a kernel of td.attention or td.attention_grad multiply; nothing of other kernels. `arch`: of the
// oldest GPU that is to run it.
std::optional<Factors> AttentionFactors(mlir::func::FuncOp kernel, int arch);

// What a block of the gradient keeps of a query in shared memory.
enum Statistic { kLargest, kReciprocal, kDot, kStatistics };

// A block of threads has `own` queries of a head, or keys in the gradient, and takes `others` keys or queries at a time
// through shared memory.
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
