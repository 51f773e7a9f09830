// Ops of smooth activation functions, such as GELU.
#ifndef TANDEM_GRAPH_IR_ACTIVATION_H_
#define TANDEM_GRAPH_IR_ACTIVATION_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/activation.h.inc"

#endif  // TANDEM_GRAPH_IR_ACTIVATION_H_
