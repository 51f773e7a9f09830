// Max and average pooling and their gradients.
#ifndef TANDEM_GRAPH_IR_POOL_H_
#define TANDEM_GRAPH_IR_POOL_H_

#include "graph/ir/dialect.h"
#include "graph/ir/window.h"

#define GET_OP_CLASSES
#include "graph/ir/pool.h.inc"

namespace tandem::td {

// The value in a result of td.max_pool_argmax which says that no element of the window gets the gradient. Positions in
// a window are smaller numbers.
inline constexpr int64_t kNoMaximum = 255;

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_POOL_H_
