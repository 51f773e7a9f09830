// Ops that move elements: broadcast, reshape, transpose, slice, pad, concat, gather, one_hot, iota, constant.
#ifndef TANDEM_GRAPH_IR_SHAPE_H_
#define TANDEM_GRAPH_IR_SHAPE_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/shape.h.inc"

#endif  // TANDEM_GRAPH_IR_SHAPE_H_
