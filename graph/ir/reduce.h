// Reductions over axes.
#ifndef TANDEM_GRAPH_IR_REDUCE_H_
#define TANDEM_GRAPH_IR_REDUCE_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/reduce.h.inc"

#endif  // TANDEM_GRAPH_IR_REDUCE_H_
