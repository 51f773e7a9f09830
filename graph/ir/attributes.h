// The enumerations of the td dialect and their attributes (graph/ir/attributes.td).
#ifndef TANDEM_GRAPH_IR_ATTRIBUTES_H_
#define TANDEM_GRAPH_IR_ATTRIBUTES_H_

#include "mlir/IR/Attributes.h"

#include "graph/ir/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "graph/ir/attributes.h.inc"

#endif  // TANDEM_GRAPH_IR_ATTRIBUTES_H_
