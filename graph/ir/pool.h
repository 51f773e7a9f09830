// Max and average pooling and their gradients.
#ifndef TANDEM_GRAPH_IR_POOL_H_
#define TANDEM_GRAPH_IR_POOL_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/pool.h.inc"

#endif  // TANDEM_GRAPH_IR_POOL_H_
