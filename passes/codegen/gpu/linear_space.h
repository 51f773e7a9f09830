// Iteration spaces for threads, in which a number stands for each point of a loop nest.
#ifndef TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_
#define TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_

#include <functional>
#include <vector>

#include "passes/codegen/loop_nest.h"

namespace tandem {

class LinearSpace {
 public:
  // Groups the digits (loop indices) of `space` as PlanLoops does, by the way in which `body` uses them; a point's
  // number has one digit per group, so that with one group no division is needed. `border`: the digits before this one
  // (the rows are the first) have a number of their own, and the others another; 0: one number for all.
  LinearSpace(ElementEmitter& e, mlir::Location loc, const Space& space, unsigned border, const PointFn& body);

  // Returns the number of elements of the static part (without the rows).
  int64_t size() const { return size_; }
  // Returns how many neighbouring points a thread should handle together, so that their loads and stores can be joined:
  // the most, up to 4, that always lie in one group. They must begin at a multiple of that number.
  int width() const;
  // Returns `count` neighbouring points; `first`, the number of the first, is a multiple of `count`. With a border,
  // `outer` is the number of the digits before it.
  std::vector<Point> At(mlir::Value first, int count) const;
  std::vector<Point> At(mlir::Value outer, mlir::Value first, int count) const;

 private:
  // Returns `count` points: the one whose groups have the digits `numbers`, and those that follow it in the last group.
  std::vector<Point> Neighbours(const Digits& numbers, int count) const;

  ElementEmitter& e_;
  mlir::Location loc_;
  Space space_;
  llvm::SmallVector<LoopGroup> groups_;
  llvm::SmallVector<int64_t> sizes_;  // size of each group; dynamic for a first group with the rows
  int64_t size_ = 1, run_ = 1;
  unsigned border_ = 0;  // number of groups before the border
};

// Returns the number of the digit where the last digits begin whose radices multiply to `size` or more.
unsigned DigitsBefore(llvm::ArrayRef<int64_t> radices, int64_t size);

// Emits for (v = begin; v < end; v += step) with values that are carried from one iteration to the next, `unroll`
// iterations at a time as long as there are so many, so that their loads overlap. `body` gets the values of v of one
// iteration, or of `unroll` iterations.
IndexBuilder::Values EmitUnrolled(
    IndexBuilder& b, mlir::Value begin, mlir::Value end, int64_t step, int64_t unroll, const IndexBuilder::Values& init,
    const std::function<IndexBuilder::Values(llvm::ArrayRef<mlir::Value>, const IndexBuilder::Values&)>& body);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_
