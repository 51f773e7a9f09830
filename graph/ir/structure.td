// Kernels, launches and checks: what the later phases are made of.
include "graph/ir/td_base.td"
