// What replicas agree on.
#ifndef TANDEM_GRAPH_IR_DIST_H_
#define TANDEM_GRAPH_IR_DIST_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.h.inc"

namespace tandem::td {

// A unit attribute of an op whose result is rounded, whoever reads it: generated code takes no product of it into a
// multiply-add. What goes through td.cross_replica travels with several replicas or servers, and has to be the same
// number where it does not.
inline constexpr llvm::StringLiteral kRoundedAttr = "td.rounded";

// Takes `op` out of a program for one replica.
void DropCrossReplica(CrossReplicaOp op);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_DIST_H_
