// Which values replicas hold in common, and which each computes from its own rows.
//
// A step runs on every replica. A value without batch is one of three:
//   common     the same on all replicas: variables, constants, sums over all rows, results of td.cross_replica and
//              of all-reduces, and what is computed from these alone;
//   varying    a replica's own: reductions of its rows with scope replica (batch statistics), a step scalar of its own
//              (IsReplicaScalar), and what is computed from these;
//   partial    (once maps are formed, before all-reduces) one replica's part of a sum over all rows.
// A common value may be assigned to a variable or be an output. A varying one becomes common by td.cross_replica only:
// as a gradient by its kind sum, as a statistic by mean.
#ifndef TANDEM_GRAPH_IR_REPLICA_VALUES_H_
#define TANDEM_GRAPH_IR_REPLICA_VALUES_H_

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Value.h"

namespace tandem::td {

// Step scalars that each replica has a value of its own of: "replica_example_count" (f32, its rows) and "replica_index"
// (i32, its number among the replicas of all processes).
bool IsReplicaScalar(llvm::StringRef name);

// The op's attribute `scope` says that its results are made of the rows of one replica.
bool HasReplicaScope(mlir::Operation* op);

// Answers from one function's body, which may grow meanwhile; what was asked for must stay.
class ReplicaValues {
 public:
  // Replicas hold different values. False for batched values: their rows are the replica's by nature.
  bool Vary(mlir::Value value);
  // The op that makes a varying value from rows or is such a scalar; null when `value` does not vary or the scalar is
  // an argument.
  mlir::Operation* Origin(mlir::Value value);

 private:
  enum class Known { kNo, kYes, kAskOperands };
  static Known ByItself(mlir::Value value);

  llvm::DenseMap<mlir::Value, bool> vary_;
};

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_REPLICA_VALUES_H_
