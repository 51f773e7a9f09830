// What may become the epilogue of a convolution or matmul.
#ifndef TANDEM_PASSES_CHANNEL_BIAS_H_
#define TANDEM_PASSES_CHANNEL_BIAS_H_

#include "graph/ir/binary.h"

namespace tandem {

// The only user of `v` when there is exactly one use; else null.
mlir::Operation* OnlyUser(mlir::Value v);

// The bias that `add` adds to `y`: one value per channel, [channels] broadcast along the last dimension. Null when it
// adds anything else.
mlir::Value ChannelBiasOf(td::AddOp add, mlir::Value y);

}  // namespace tandem

#endif  // TANDEM_PASSES_CHANNEL_BIAS_H_
