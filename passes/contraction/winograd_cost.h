// Estimates how long Winograd's algorithm takes, and chooses its tile. Free of MLIR types.
#ifndef TANDEM_PASSES_CONTRACTION_WINOGRAD_COST_H_
#define TANDEM_PASSES_CONTRACTION_WINOGRAD_COST_H_

#include "passes/analysis/machine_model.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

// Limits of a tile's side, in pixels. Larger tiles magnify the rounding errors of transformed values too much
// (docs/developers/winograd.md).
inline constexpr int64_t kMinWinogradTile = 2, kMaxWinogradTile = 4;

enum class WinogradRole { kForward, kInputGrad, kFilterGrad };

struct WinogradChoice {
  double seconds = 0;  // expected time of one microbatch
  int64_t tile = 0, block = 0;
};

// Returns the best tile and block. `shape`: sizes of the convolution; its block is ignored, and its tile is kept unless
// it is 0. `rows`: images of a microbatch. `count`: microbatches of a step that share a transformed kernel. `rows` and
// `count` may depend on the model, the global batch and the target only.
WinogradChoice BestWinograd(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                            int64_t count);

// Returns the expected seconds of one microbatch with the tile and block in `shape`.
double WinogradSeconds(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                       int64_t count);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_WINOGRAD_COST_H_
