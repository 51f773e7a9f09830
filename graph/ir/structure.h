// Kernels, launches and checks: what the later phases are made of.
#ifndef TANDEM_GRAPH_IR_STRUCTURE_H_
#define TANDEM_GRAPH_IR_STRUCTURE_H_

#include "graph/ir/dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#define GET_OP_CLASSES
#include "graph/ir/structure.h.inc"

#endif  // TANDEM_GRAPH_IR_STRUCTURE_H_
