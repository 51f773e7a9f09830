// Shard maps and collectives.
include "graph/ir/td_base.td"
