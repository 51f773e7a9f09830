// Counter-based random numbers.
include "graph/ir/td_base.td"
