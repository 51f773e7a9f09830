// Max and average pooling and their gradients.
include "graph/ir/td_base.td"
