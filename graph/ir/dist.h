// Ops for values on which replicas agree.
#ifndef TANDEM_GRAPH_IR_DIST_H_
#define TANDEM_GRAPH_IR_DIST_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.h.inc"

namespace tandem::td {

// A unit attribute of an op whose result must be rounded for all its users: generated code fuses no product of it into
// a multiply-add. An operand of td.cross_replica is stored and sent between replicas or servers, so it must have the
// same value where it is not sent.
inline constexpr llvm::StringLiteral kRoundedAttr = "td.rounded";

// Removes `op` from a program for one replica.
void DropCrossReplica(CrossReplicaOp op);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_DIST_H_
