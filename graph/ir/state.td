// What ties a graph to its surroundings: variables, inputs, step scalars, outputs.
include "graph/ir/td_base.td"
