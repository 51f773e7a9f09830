// Contractions: matmul, convolution and its gradients.
include "graph/ir/td_base.td"
