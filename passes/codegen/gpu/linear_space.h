// Iteration spaces for threads, in which a number stands for each point of a loop nest.
#ifndef TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_
#define TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_

#include <functional>
#include <vector>

#include "passes/codegen/loop_nest.h"

namespace tandem {

class LinearSpace {
 public:
  // `body` shows which digits must be apart, as for PlanLoops. A number then has one digit per group of the other
  // digits; with one group no division is ever needed. `border`: digits before this one (the rows are the first) have a
  // number of their own, and those from there on another; 0: one number for all.
  LinearSpace(ElementEmitter& e, mlir::Location loc, const Space& space, unsigned border, const PointFn& body);

  // Returns the elements of the static part.
  int64_t size() const { return size_; }
  // Returns how many neighbouring points a thread should take, so that their loads and stores can be joined: the most
  // (up to 4) that stay in one group, from a number on that is a multiple of it.
  int width() const;
  // Returns `count` points from number `first` on, a multiple of `count`. With a border, `outer` is the number of the
  // digits before it.
  std::vector<Point> At(mlir::Value first, int count) const;
  std::vector<Point> At(mlir::Value outer, mlir::Value first, int count) const;

 private:
  // Returns the point whose groups have `numbers`, and those that follow in the last group, `count` in all.
  std::vector<Point> Neighbours(const Digits& numbers, int count) const;

  ElementEmitter& e_;
  mlir::Location loc_;
  Space space_;
  llvm::SmallVector<LoopGroup> groups_;
  llvm::SmallVector<int64_t> sizes_;  // by group; the first is dynamic if it has the rows
  int64_t size_ = 1, run_ = 1;
  unsigned border_ = 0;  // groups before the border
};

// Returns the first of the last digits whose radices multiply to `size` or more.
unsigned DigitsBefore(llvm::ArrayRef<int64_t> radices, int64_t size);

// Emits for (v = begin; v < end; v += step) with values that go from one iteration to the next, `unroll` iterations at
// a time as long as there are so many, so that their loads are under way together. `body` gets the iterations' values
// of v, one or `unroll` of them.
IndexBuilder::Values EmitUnrolled(
    IndexBuilder& b, mlir::Value begin, mlir::Value end, int64_t step, int64_t unroll, const IndexBuilder::Values& init,
    const std::function<IndexBuilder::Values(llvm::ArrayRef<mlir::Value>, const IndexBuilder::Values&)>& body);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_
