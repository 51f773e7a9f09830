// Ops that connect a graph to its surroundings: variables, inputs, step scalars, outputs.
#ifndef TANDEM_GRAPH_IR_STATE_H_
#define TANDEM_GRAPH_IR_STATE_H_

#include "graph/ir/dialect.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "graph/ir/state.h.inc"

#endif  // TANDEM_GRAPH_IR_STATE_H_
