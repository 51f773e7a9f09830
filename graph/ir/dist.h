// What replicas agree on.
#ifndef TANDEM_GRAPH_IR_DIST_H_
#define TANDEM_GRAPH_IR_DIST_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.h.inc"

#endif  // TANDEM_GRAPH_IR_DIST_H_
