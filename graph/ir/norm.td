// Softmax, cross-entropy and batch moments.
include "graph/ir/td_base.td"
