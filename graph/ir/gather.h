// Selecting rows by index: gather and its gradient.
#ifndef TANDEM_GRAPH_IR_GATHER_H_
#define TANDEM_GRAPH_IR_GATHER_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/gather.h.inc"

#endif  // TANDEM_GRAPH_IR_GATHER_H_
