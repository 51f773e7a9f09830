// Optimizer updates.
include "graph/ir/td_base.td"
