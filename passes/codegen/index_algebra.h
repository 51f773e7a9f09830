// Index arithmetic of generated kernels, which computes row-major addresses without divisions.
//
// A tensor index is a list of digits (a mixed-radix number); a loop variable is one digit. Linear addresses are formed
// from digits, reshapes regroup them, and a digit is only divided when a reshape really cuts it. So `[b, 21632]`,
// `[b, 26, 26, 32]` and a flat loop over both all give the same plain address `p`.
#ifndef TANDEM_PASSES_CODEGEN_INDEX_ALGEBRA_H_
#define TANDEM_PASSES_CODEGEN_INDEX_ALGEBRA_H_

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/codegen/index_builder.h"

namespace tandem {

struct Digit {
  mlir::Value value;  // a number of type index in [0, radix)
  int64_t radix;      // number of values that the digit can have; kDynamic for the batch
};
using Digits = llvm::SmallVector<Digit, 4>;

// Records, during a trial emission, which neighbouring loop digits can be one loop: those that are only ever used side
// by side in linear addresses.
struct IndexProbe {
  Digits digits;                  // the loop variables, outermost first
  llvm::SmallVector<bool> split;  // split[k]: digits k and k + 1 must be two loops
};

class IndexAlgebra {
 public:
  explicit IndexAlgebra(mlir::OpBuilder& builder) : builder_(builder) {}

  // Returns the row-major linear index of `indices` in a tensor of shape `dims` (the batch, if any, is dimension 0).
  mlir::Value Linearize(mlir::Location loc, mlir::ValueRange indices, llvm::ArrayRef<int64_t> dims);
  // Regroups `digits` as one index per dimension of `dims`; both have the same number of elements.
  llvm::SmallVector<mlir::Value> Split(mlir::Location loc, Digits digits, llvm::ArrayRef<int64_t> dims);
  // Returns the indices of the same element in another shape of equal size.
  llvm::SmallVector<mlir::Value> Reshape(mlir::Location loc, mlir::ValueRange indices, llvm::ArrayRef<int64_t> from,
                                         llvm::ArrayRef<int64_t> to);
  // Cuts `value` into digits of the given radices, outermost first.
  Digits Cut(mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> radices);

  // Returns `digit` + `distance`, which must be a digit of the same radix (no carry). Addresses that differ only in
  // such a digit then differ by a constant that LLVM can see.
  mlir::Value Shift(mlir::Location loc, mlir::Value digit, int64_t distance);

  // What this object knows about values: which are parts of a digit, composed of digits, or digits with a number added.
  // A trial emission saves it and restores it at the end.
  struct Child {
    mlir::Value parent;
    int64_t parent_radix, radix;
    unsigned position, count;
  };
  struct State {
    llvm::DenseMap<mlir::Value, Digits> composites;
    llvm::DenseMap<mlir::Value, Child> children;
    llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>> shifted;
  };
  State Save() const { return state_; }
  void Restore(State state) { state_ = std::move(state); }

  // While set, addresses are recorded instead of computed.
  IndexProbe* probe = nullptr;

 private:
  IndexBuilder At(mlir::Location loc) { return {builder_, loc}; }
  Digits DigitsOf(mlir::ValueRange indices, llvm::ArrayRef<int64_t> dims);
  // Replaces digits that were cut from one value by that value.
  Digits Merge(Digits digits);
  // Returns the number that `digits` stand for.
  mlir::Value Compose(mlir::Location loc, Digits digits);
  void Record(const Digits& digits);

  mlir::OpBuilder& builder_;
  State state_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_INDEX_ALGEBRA_H_
