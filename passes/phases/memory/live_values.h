// Lifetimes of a block's values, and which of them use another value's memory.
#ifndef TANDEM_PASSES_PHASES_MEMORY_LIVE_VALUES_H_
#define TANDEM_PASSES_PHASES_MEMORY_LIVE_VALUES_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "passes/analysis/offset_assignment.h"

namespace tandem {

// Returns the operand whose memory `result` uses, because it is a view of it or because its command writes over it;
// null for a result with memory of its own.
mlir::OpOperand* SharedOperand(mlir::OpResult result);

// Values of one arena, with the range in which each is live.
struct LiveValues {
  void Add(mlir::Value value, LiveRange range) {
    values.push_back(value);
    ranges.push_back(range);
  }

  std::vector<mlir::Value> values;
  std::vector<LiveRange> ranges;
};

// Numbers the ops of a block. These numbers are the times in live ranges.
class BlockTimes {
 public:
  explicit BlockTimes(mlir::Block& block);

  // Returns the range from the op of `result` to the last op of the block that reads the value, or another value in its
  // memory.
  LiveRange RangeOf(mlir::OpResult result, int64_t bytes) const;
  // Returns the range of a value that is live in the whole block.
  LiveRange WholeRange(int64_t bytes) const { return {bytes, 0, static_cast<int>(times_.size())}; }

 private:
  int LastUse(mlir::Value value) const;

  llvm::DenseMap<mlir::Operation*, int> times_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_MEMORY_LIVE_VALUES_H_
