// Batch-axis analysis: which ops run once per microbatch and which once per device, and in how many phases.
#ifndef TANDEM_PASSES_ANALYSIS_BATCH_AXIS_H_
#define TANDEM_PASSES_ANALYSIS_BATCH_AXIS_H_

#include "graph/ir/interfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Levels of the ops of a pure step function. Map level k holds the ops on batched values that need top-level values of
// level <= k; a value summed over the batch in map k can be read from level k + 1 on.
class BatchAxis {
 public:
  explicit BatchAxis(mlir::func::FuncOp step);

  // The op has a batched operand or result and is computed by microbatches, so that it belongs to a microbatch map.
  bool IsMapOp(mlir::Operation* op) const;
  // The op makes a batched value from unbatched ones; it is repeated in every map that needs it.
  bool CreatesBatch(mlir::Operation* op) const;
  // The op reads all rows of batched values at the top level, behind the map that makes them.
  static bool ReadsAllRows(mlir::Operation* op);
  // The map (for a map op) or the top-level segment before that map (for any other op).
  int Level(mlir::Operation* op) const { return levels_.lookup(op); }
  int num_levels() const { return num_levels_; }
  // The first op that mixes rows of the batch and so forces one microbatch per replica; null when there is none.
  mlir::Operation* mixing_op() const { return mixing_op_; }

 private:
  llvm::DenseMap<mlir::Operation*, int> levels_;
  int num_levels_ = 0;  // levels of map ops, at least 0
  mlir::Operation* mixing_op_ = nullptr;
};

// The rule of an op that touches the batch; kMixing when the op does not say.
td::BatchRule BatchRuleOf(mlir::Operation* op);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_BATCH_AXIS_H_
