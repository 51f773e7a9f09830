// Shard maps and collectives.
#ifndef TANDEM_GRAPH_IR_DIST_H_
#define TANDEM_GRAPH_IR_DIST_H_

#include "graph/ir/dialect.h"
#include "graph/ir/structure.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.h.inc"

#endif  // TANDEM_GRAPH_IR_DIST_H_
