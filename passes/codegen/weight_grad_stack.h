// Computes how much stack memory kernels of weight gradients use.
#ifndef TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_STACK_H_
#define TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_STACK_H_

#include <cstdint>

#include "passes/codegen/register_tile.h"

namespace tandem {

// Returns the bytes for sums of products of matrices over `depth` rows, including rows that lanes lack.
inline constexpr int64_t WeightGradStackBytes(int64_t depth) { return 4 * depth * RegisterTileRows(16); }

// Returns the most bytes for a convolution of `taps` taps and this many pixels in a whole batch of images.
int64_t ConvWeightGradStackBytes(int64_t taps, int64_t x_pixels, int64_t dy_pixels);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WEIGHT_GRAD_STACK_H_
