// Ops that combine the values of all replicas into one, which is the same on each of them.
#ifndef TANDEM_GRAPH_IR_DIST_H_
#define TANDEM_GRAPH_IR_DIST_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.h.inc"

namespace tandem::td {

// Name of a unit attribute of an op whose result must be rounded wherever it is used: generated code may not fuse a
// product that it computes into a multiply-add. The operand of td.cross_replica gets it: with several replicas or
// servers that value is stored and sent, which rounds it, and a program for one replica must compute the same bits.
inline constexpr llvm::StringLiteral kRoundedAttr = "td.rounded";

// Removes `op` from a program for one replica, where its result is its operand, and marks the op that computes the
// operand with kRoundedAttr.
void DropCrossReplica(CrossReplicaOp op);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_DIST_H_
