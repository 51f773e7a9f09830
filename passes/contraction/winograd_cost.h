// How long Winograd's algorithm is expected to take, and with which tile. Free of MLIR types.
#ifndef TANDEM_PASSES_CONTRACTION_WINOGRAD_COST_H_
#define TANDEM_PASSES_CONTRACTION_WINOGRAD_COST_H_

#include "passes/analysis/machine_model.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

// Pixels of a tile's side. Larger ones magnify the rounding of transformed values too much
// (docs/developers/winograd.md).
inline constexpr int64_t kMinWinogradTile = 2, kMaxWinogradTile = 4;

enum class WinogradRole { kForward, kInputGrad, kFilterGrad };

struct WinogradChoice {
  double seconds = 0;  // expected, of one microbatch
  int64_t tile = 0, block = 0;
};

// The best tile and block. `shape`: sizes of the convolution; its block is ignored, and its tile where it is 0. `rows`:
// images of a microbatch. `count`: how many microbatches of a step share a transformed kernel. Both may depend on the
// model, the global batch and the target only.
WinogradChoice BestWinograd(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                            int64_t count);

// Expected seconds of one microbatch with the tile and block in `shape`.
double WinogradSeconds(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                       int64_t count);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_WINOGRAD_COST_H_
