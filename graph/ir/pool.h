// Max and average pooling and their gradients.
#ifndef TANDEM_GRAPH_IR_POOL_H_
#define TANDEM_GRAPH_IR_POOL_H_

#include "graph/ir/dialect.h"
#include "graph/ir/window.h"

#define GET_OP_CLASSES
#include "graph/ir/pool.h.inc"

namespace tandem::td {

// In the result of td.max_pool_argmax: no element of the window gets the gradient. Positions in windows are smaller.
inline constexpr int64_t kNoMaximum = 255;

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_POOL_H_
