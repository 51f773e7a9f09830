// Whether Winograd's algorithm is profitable for a convolution, and with which tile. Free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_WINOGRAD_COST_H_
#define TANDEM_PASSES_ANALYSIS_WINOGRAD_COST_H_

#include "passes/analysis/machine_model.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

enum class WinogradRole { kForward, kInputGrad, kFilterGrad };

// Expected seconds of one shard.
struct WinogradChoice {
  double direct_seconds = 0;
  double winograd_seconds = 0;  // of the best tile and block
  int64_t tile = 0, block = 0;
  bool profitable = false;  // by a tenth at least, since both are guesses
};

// `shape`: sizes of the convolution; its tile and block are ignored. `rows`: images of a shard. `shards`: how many
// shards of a step share a transformed kernel. Both may depend on the model, the global batch and the target only.
// `bfloat16`: images are, so that a direct convolution gets the library's faster rate; Winograd's products only with
// shape.bfloat16_products.
WinogradChoice ChooseWinograd(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                              int64_t shards, bool bfloat16 = false);

// Expected seconds of one shard with the tile and block in `shape`.
double WinogradSeconds(const MachineModel& machine, const WinogradShape& shape, WinogradRole role, int64_t rows,
                       int64_t shards);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_WINOGRAD_COST_H_
