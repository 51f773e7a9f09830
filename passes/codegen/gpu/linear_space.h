// Iteration spaces for threads: the points of a loop nest by one number.
#ifndef TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_
#define TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_

#include <functional>
#include <vector>

#include "passes/codegen/loop_nest.h"

namespace tandem {

class LinearSpace {
 public:
  // `body` says which digits must be apart, as for PlanLoops. A number then has one digit per group of digits that need
  // not be; with one group no division is ever needed. `border`: the digits (the rows are the first) before this one
  // have a number of their own, and those from there on another; 0: all have one.
  LinearSpace(ElementEmitter& e, mlir::Location loc, const Space& space, unsigned border, const PointFn& body);

  // Elements of the static part.
  int64_t size() const { return size_; }
  // How many neighbouring points a thread should take: the most (up to 4) that stay in one group, from a number that is
  // a multiple of it, so that their loads and stores can be one.
  int width() const;
  // `count` points from number `first`, which is a multiple of `count`; with a border also `outer`, of the digits
  // before it.
  std::vector<Point> At(mlir::Value first, int count) const;
  std::vector<Point> At(mlir::Value outer, mlir::Value first, int count) const;

 private:
  // The points whose groups have `numbers`, and those that follow in the last group.
  std::vector<Point> Neighbours(const Digits& numbers, int count) const;

  ElementEmitter& e_;
  mlir::Location loc_;
  Space space_;
  llvm::SmallVector<LoopGroup> groups_;
  llvm::SmallVector<int64_t> sizes_;  // of groups; the first is dynamic where it has the rows
  int64_t size_ = 1, run_ = 1;
  unsigned border_ = 0;  // groups before it
};

// The first of the last digits that together count to `size`, or more.
unsigned DigitsBefore(llvm::ArrayRef<int64_t> radices, int64_t size);

// for (v = begin; v < end; v += step) body(v)
void EmitStrided(ElementEmitter& e, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step,
                 const std::function<void(mlir::Value)>& body);
// The same with values that go through the iterations.
std::vector<mlir::Value> EmitStrided(
    ElementEmitter& e, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step,
    const std::vector<mlir::Value>& init,
    const std::function<std::vector<mlir::Value>(mlir::Value, const std::vector<mlir::Value>&)>& body);
// The same, `unroll` iterations at a time as long as there are so many: what they load is under way together. `body`
// gets the iterations' values of v, one or `unroll` of them.
std::vector<mlir::Value> EmitUnrolled(
    ElementEmitter& e, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step, int64_t unroll,
    const std::vector<mlir::Value>& init,
    const std::function<std::vector<mlir::Value>(llvm::ArrayRef<mlir::Value>, const std::vector<mlir::Value>&)>& body);
// if (condition) body()
void EmitIf(ElementEmitter& e, mlir::Location loc, mlir::Value condition, const std::function<void()>& body,
            const std::function<void()>& otherwise = nullptr);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_LINEAR_SPACE_H_
