// Tells values that replicas have in common from those that each replica computes from its own rows.
//
// A step runs on every replica. A value without batch is one of three:
//   common     the same on all replicas: variables, constants, sums over all rows, results of td.cross_replica and
//              of all-reduces, and what is computed from these alone;
//   varying    a replica's own: reductions of its rows with scope replica (batch statistics), a step scalar of its own
//              (IsReplicaScalar), and values computed from these;
//   partial    (once loops over microbatches are formed, before all-reduces) one replica's part of a sum over all rows.
// Only a common value may be assigned to a variable or be an output. Only td.cross_replica makes a varying value
// common: with kind sum for a gradient, with kind mean for a statistic.
#ifndef TANDEM_GRAPH_IR_REPLICA_VALUES_H_
#define TANDEM_GRAPH_IR_REPLICA_VALUES_H_

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Value.h"

namespace tandem::td {

// True for step scalars that differ between replicas: "replica_example_count" (f32, number of its rows) and
// "replica_index" (i32, its number among the replicas of all processes).
bool IsReplicaScalar(llvm::StringRef name);

// True if the op's attribute `scope` says that its results are computed from the rows of one replica.
bool HasReplicaScope(mlir::Operation* op);

// Answers questions about the values of one function's body. The body may grow in between, but an op that a question
// was about must stay: answers are remembered.
class ReplicaValues {
 public:
  // True if replicas hold different values of `value`. False for batched values, since each of their rows is on one
  // replica.
  bool Vary(mlir::Value value);
  // Returns the op that makes `value` differ between replicas: one that computes it from a replica's rows, or that
  // reads a step scalar of its own (IsReplicaScalar). Null if `value` does not vary, or if that scalar is an argument.
  mlir::Operation* Origin(mlir::Value value);

 private:
  enum class Known { kNo, kYes, kAskOperands };
  static Known ByItself(mlir::Value value);

  llvm::DenseMap<mlir::Value, bool> vary_;
};

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_REPLICA_VALUES_H_
