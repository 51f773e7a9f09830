// Reductions over axes.
include "graph/ir/td_base.td"
