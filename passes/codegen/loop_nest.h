// Emits loop nests over tensor elements, with as few and as long loops as the kernel's index maps allow.
#ifndef TANDEM_PASSES_CODEGEN_LOOP_NEST_H_
#define TANDEM_PASSES_CODEGEN_LOOP_NEST_H_

#include <functional>

#include "passes/codegen/element_emitter.h"

namespace tandem {

// One point of an iteration space.
struct Point {
  Digits digits;
};

// The iteration space of a nest: perhaps rows of the batch, then dimensions of static sizes.
struct Space {
  enum class Rows {
    kNone,   // no batch axis
    kFixed,  // one row, whose number is `row`
    kLoop,   // rows [begin, end)
  };
  Rows rows = Rows::kNone;
  mlir::Value row;                     // for kFixed: the number of the row
  mlir::Value begin, end;              // for kLoop: the first row, and the end of the rows
  llvm::SmallVector<int64_t> radices;  // radices of the static part, outermost first
};

// Returns sizes that tile every shape in `shapes` (static, equal numbers of elements), if such exist: [26*26*32] and
// [26, 26, 32] give [26, 26, 32]. Falls back to the first shape.
llvm::SmallVector<int64_t> CommonRadices(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes);

// Returns the dimensions of `type` without the batch.
llvm::SmallVector<int64_t> InnerShape(mlir::Type type);

// Returns the space of the operand's elements that a reduction combines into one element of its result.
Space ReducedSpace(mlir::Operation* op, const Reduction& reduction);

// Returns the indices of `point` in a tensor of type `type`, which must be as large as the space.
llvm::SmallVector<mlir::Value> IndicesAt(ElementEmitter& e, mlir::Location loc, const Point& point, mlir::Type type);

using PointFn = std::function<void(const Point&)>;

// Neighbouring digits of a space that share a loop: numbers [first, last] in its radices, where a loop over rows counts
// as number 0. PlanLoops finds the groups from the way in which `body` uses indices. `forced` holds numbers k for which
// k and k + 1 must be two loops.
struct LoopGroup {
  unsigned first, last;
};
llvm::SmallVector<LoopGroup> PlanLoops(ElementEmitter& e, mlir::Location loc, const Space& space,
                                       llvm::ArrayRef<unsigned> forced, const PointFn& body);

// Bounds of a group's loop.
struct LoopBounds {
  mlir::Value begin, end;
};
LoopBounds BoundsOf(ElementEmitter& e, mlir::Location loc, const Space& space, const LoopGroup& group);
// Returns the digits that a group has at one value of its loop variable.
Digits DigitsOf(ElementEmitter& e, mlir::Location loc, const Space& space, const LoopGroup& group,
                mlir::Value variable);
// Returns the digits that are not loop variables: the fixed row, if there is one.
Digits FixedDigits(const Space& space);

// Emits the loops over the whole space, with `body` inside.
void EmitNest(ElementEmitter& e, mlir::Location loc, const Space& space, const PointFn& body);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LOOP_NEST_H_
