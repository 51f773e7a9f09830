// Loop nests over tensor elements: as few and as long loops as the kernel's index maps allow.
#ifndef TANDEM_PASSES_CODEGEN_LOOP_NEST_H_
#define TANDEM_PASSES_CODEGEN_LOOP_NEST_H_

#include <functional>

#include "passes/codegen/element_emitter.h"

namespace tandem {

// One point of an iteration space.
struct Point {
  Digits digits;
};

// The iteration space of a nest: a batch or none, then static sizes.
struct Space {
  enum class Rows {
    kNone,   // no batch axis
    kFixed,  // one row, given as a value
    kLoop,   // rows [begin, end)
  };
  Rows rows = Rows::kNone;
  mlir::Value row;                     // kFixed
  mlir::Value begin, end;              // kLoop
  llvm::SmallVector<int64_t> radices;  // of the static part, outermost first
};

// Sizes that tile every shape in `shapes` (static, equal numbers of elements) where such exist: [26*26*32] and
// [26, 26, 32] give [26, 26, 32]. Falls back to the first shape.
llvm::SmallVector<int64_t> CommonRadices(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes);

// The dimensions of `type` without the batch.
llvm::SmallVector<int64_t> InnerShape(mlir::Type type);

// The indices of `point` in a tensor of type `type`; the space and the tensor agree in size.
llvm::SmallVector<mlir::Value> IndicesAt(ElementEmitter& e, mlir::Location loc, const Point& point, mlir::Type type);

using PointFn = std::function<void(const Point&)>;

// Which digits of the space share a loop: [first, last] positions in (row loop +) radices. `forced` keeps digits apart:
// positions k with a border between k and k + 1.
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
// The digits of a group for the value of its loop variable.
Digits DigitsOf(ElementEmitter& e, mlir::Location loc, const Space& space, const LoopGroup& group,
                mlir::Value variable);
// The point's digits that no loop gives: the fixed row.
Digits FixedDigits(const Space& space);

// for (begin..end) body(variable)
void EmitLoop(ElementEmitter& e, mlir::Location loc, LoopBounds bounds, int64_t step,
              const std::function<void(mlir::Value)>& body);
// for (begin..end) accumulator = body(variable, accumulator)
mlir::Value EmitAccumulatingLoop(ElementEmitter& e, mlir::Location loc, LoopBounds bounds, mlir::Value init,
                                 const std::function<mlir::Value(mlir::Value, mlir::Value)>& body);

// The whole nest.
void EmitNest(ElementEmitter& e, mlir::Location loc, const Space& space, const PointFn& body);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_LOOP_NEST_H_
