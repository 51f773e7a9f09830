// Elementwise ops with two or three operands.
#ifndef TANDEM_GRAPH_IR_BINARY_H_
#define TANDEM_GRAPH_IR_BINARY_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/binary.h.inc"

#endif  // TANDEM_GRAPH_IR_BINARY_H_
