// Contractions: matmul, convolution and its gradients.
#ifndef TANDEM_GRAPH_IR_CONTRACT_H_
#define TANDEM_GRAPH_IR_CONTRACT_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/contract.h.inc"

#endif  // TANDEM_GRAPH_IR_CONTRACT_H_
