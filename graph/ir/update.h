// Optimizer updates as ops, such as td.apply_adam.
#ifndef TANDEM_GRAPH_IR_UPDATE_H_
#define TANDEM_GRAPH_IR_UPDATE_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/update.h.inc"

#endif  // TANDEM_GRAPH_IR_UPDATE_H_
