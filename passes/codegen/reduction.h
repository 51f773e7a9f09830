// Reductions of kernels: which ops reduce, along which axes, and how two elements are combined.
#ifndef TANDEM_PASSES_CODEGEN_REDUCTION_H_
#define TANDEM_PASSES_CODEGEN_REDUCTION_H_

#include <optional>
#include <vector>

#include "graph/ir/attributes.h"
#include "mlir/IR/Builders.h"

namespace tandem {

struct Reduction {
  td::ReduceKind kind = td::ReduceKind::kSum;
  std::vector<int64_t> axes;  // the reduced axes, ascending
  // For a column sum (IsColumnSum): elements of the result per column of operand 0, at least one. 0 for a td.reduce.
  int64_t taps = 0;
  bool arg_max = false;
};

// True if `op` is a column sum: a windowed op that sums over the batch and over all dimensions of operand 0 but the
// last, the columns, into several elements per column, such as the filter gradient of a depthwise convolution. Its
// emitElement emits one addend; its indices are those of an element of operand 0, then those of the result's element,
// which are constants except for the last, the column.
bool IsColumnSum(mlir::Operation* op);

// Returns the reduction that `op`, a td.reduce or a column sum, is; none for others and for null.
std::optional<Reduction> ReductionOf(mlir::Operation* op);

// Like ReductionOf, but also returns a reduction for a td.argmax: a maximum of keys along its only axis.
std::optional<Reduction> ReductionOrArgMaxOf(mlir::Operation* op);

// Like ReductionOf, for reductions over the batch: `op` may be any ElementalOp with a batched operand and a result
// without batch. `axes` is empty when it is no td.reduce; such an op emits the addend of one row, whose index comes
// first.
std::optional<Reduction> BatchReductionOf(mlir::Operation* op);
inline bool IsBatchReduce(mlir::Operation* op) { return BatchReductionOf(op).has_value(); }

// Returns the columns of a reduction: the trailing elements of operand 0 that it keeps apart.
int64_t ColumnsOf(mlir::Operation* op, const Reduction& reduction);

// Returns the neutral element of `kind` for a scalar of type `type`.
mlir::Value NeutralElement(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, mlir::Type type);
// Returns `a` and `b` combined. `reassociate` lets LLVM sum in vector lanes. Set it only where the same code computes a
// sum in every run, since it changes the order of additions.
mlir::Value Combine(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, mlir::Value a, mlir::Value b,
                    bool reassociate);
// Combines all elements of `v`, whose number is a power of two, pair by pair. Chains of operations are then shorter
// than in a sum from the first to the last, and rounding errors smaller.
mlir::Value CombinePairs(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, std::vector<mlir::Value> v);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_REDUCTION_H_
