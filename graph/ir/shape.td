// Ops that move elements: broadcast, reshape, transpose, slice, pad, concat, gather, one_hot, iota, constant.
include "graph/ir/td_base.td"
