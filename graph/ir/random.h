// The op td.random_uniform: random numbers from a counter and a key, without a state.
#ifndef TANDEM_GRAPH_IR_RANDOM_H_
#define TANDEM_GRAPH_IR_RANDOM_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/random.h.inc"

#endif  // TANDEM_GRAPH_IR_RANDOM_H_
