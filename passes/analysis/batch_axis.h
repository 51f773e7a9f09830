// Batch-axis analysis: finds out which ops run once per microbatch and which once per device, and in how many levels.
#ifndef TANDEM_PASSES_ANALYSIS_BATCH_AXIS_H_
#define TANDEM_PASSES_ANALYSIS_BATCH_AXIS_H_

#include "graph/ir/interfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Computes the levels of the ops of a pure step function. The step becomes a sequence of maps, loops over microbatches,
// with other ops at the top level between them. Map k holds the ops on batched values that read top-level values of
// level k at most. A value that map k sums over the batch has level k + 1, so map k + 1 is the first that can read it.
class BatchAxis {
 public:
  explicit BatchAxis(mlir::func::FuncOp step);

  // True if the op has a batched operand or result and is computed by microbatches, so that it belongs to a microbatch
  // map.
  bool IsMapOp(mlir::Operation* op) const;
  // True if the op computes a batched value from unbatched ones. Such an op is repeated in every map that reads its
  // result.
  bool CreatesBatch(mlir::Operation* op) const;
  // True if the op reads all rows of batched values at once, as a scatter does: it runs at the top level, behind the
  // map that computes them.
  static bool ReadsAllRows(mlir::Operation* op);
  // Returns the level of the op: for a map op the number of its map, for any other op the number of the map in front of
  // which it runs.
  int Level(mlir::Operation* op) const { return levels_.lookup(op); }
  int num_levels() const { return num_levels_; }
  // Returns the first op that mixes rows of the batch and so forces one microbatch per replica; null when there is
  // none.
  mlir::Operation* mixing_op() const { return mixing_op_; }

 private:
  llvm::DenseMap<mlir::Operation*, int> levels_;
  int num_levels_ = 0;  // number of map levels
  mlir::Operation* mixing_op_ = nullptr;
};

// Returns the batch rule of an op that touches the batch; kMixing when the op does not declare one.
td::BatchRule BatchRuleOf(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_BATCH_AXIS_H_
