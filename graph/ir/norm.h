// Softmax, cross-entropy and batch moments.
#ifndef TANDEM_GRAPH_IR_NORM_H_
#define TANDEM_GRAPH_IR_NORM_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/norm.h.inc"

#endif  // TANDEM_GRAPH_IR_NORM_H_
