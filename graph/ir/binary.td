// Elementwise ops with two or three operands.
include "graph/ir/td_base.td"
