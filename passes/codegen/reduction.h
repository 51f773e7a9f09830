// Reductions of kernels: which ops reduce, along which axes, and how two elements are combined.
#ifndef TANDEM_PASSES_CODEGEN_REDUCTION_H_
#define TANDEM_PASSES_CODEGEN_REDUCTION_H_

#include <vector>

#include "graph/ir/attributes.h"
#include "mlir/IR/Builders.h"

namespace tandem {

struct Reduction {
  td::ReduceKind kind = td::ReduceKind::kSum;
  std::vector<int64_t> axes;  // ascending
  // For a column sum (below): elements of the result per kept element of operand 0, at least one; 0 for a td.reduce.
  int64_t taps = 0;
  bool arg_max = false;
};

// True if `op` is a column sum: a windowed op that sums over the batch and all dimensions of operand 0 but the last,
// into several elements per column. Its emitElement emits an addend: it takes the indices of operand 0's element, then
// those of the result's element, of which all but the last, the column, are constants.
bool IsColumnSum(mlir::Operation* op);

// Gets the reduction that `op` is; false when it is neither a td.reduce nor a column sum.
bool GetReduction(mlir::Operation* op, Reduction& reduction);

// The same for a td.argmax, which is a maximum of keys along its only axis.
bool GetArgMax(mlir::Operation* op, Reduction& reduction);

// The same for a reduction over the batch: any ElementalOp with a batched operand and a result without batch. `axes`
// stays empty when it is no td.reduce; such an op emits the addend of one row, whose index comes first.
bool GetBatchReduction(mlir::Operation* op, Reduction& reduction);

// Returns the columns of a reduction: the trailing elements of operand 0 that it keeps apart.
int64_t ColumnsOf(mlir::Operation* op, const Reduction& reduction);

// Returns the neutral element of `kind` for a scalar of type `type`.
mlir::Value NeutralElement(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, mlir::Type type);
// Returns `a` and `b` combined. `reassociate` allows LLVM to sum in vector lanes: only where all runs over the data use
// the same code.
mlir::Value Combine(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, mlir::Value a, mlir::Value b,
                    bool reassociate);
// Returns all of `v`, whose number is a power of two, combined pair by pair: the chains of operations are shorter than
// one after another, and so are the rounding errors smaller.
mlir::Value CombinePairs(mlir::OpBuilder& builder, mlir::Location loc, td::ReduceKind kind, std::vector<mlir::Value> v);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_REDUCTION_H_
