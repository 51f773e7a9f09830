// The stack that kernels of weight gradients take.
#ifndef TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_

#include <cstdint>

#include "passes/codegen/register_tile.h"

namespace tandem {

// Returns the bytes of stack that a kernel needs to sum over `depth` rows of the operands. `depth` counts lanes that
// are not full as full ones.
inline constexpr int64_t WeightGradStackBytes(int64_t depth) { return 4 * depth * RegisterTileRows(16); }

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_KERNEL_H_
