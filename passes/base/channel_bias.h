// Helpers that find what may become the epilogue of a convolution or matmul.
#ifndef TANDEM_PASSES_BASE_CHANNEL_BIAS_H_
#define TANDEM_PASSES_BASE_CHANNEL_BIAS_H_

#include "graph/ir/binary.h"

namespace tandem {

// Returns the only user of `v` when there is exactly one use; else null.
mlir::Operation* OnlyUser(mlir::Value v);

// Returns the bias that `add` adds to `y`: one value per channel, [channels] broadcast along the last dimension. Null
// when `add` adds anything else.
mlir::Value ChannelBiasOf(td::AddOp add, mlir::Value y);

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_CHANNEL_BIAS_H_
