// Elementwise ops with one operand.
#ifndef TANDEM_GRAPH_IR_UNARY_H_
#define TANDEM_GRAPH_IR_UNARY_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/unary.h.inc"

#endif  // TANDEM_GRAPH_IR_UNARY_H_
