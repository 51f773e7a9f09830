// Short builders for the td ops that gradients consist of. They append ops at the builder's insertion point, and avoid
// that op families include each other's headers.
#ifndef TANDEM_GRAPH_IR_BUILD_H_
#define TANDEM_GRAPH_IR_BUILD_H_

#include <cstdint>

#include "graph/ir/attributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace tandem::td {

// A tensor of type `type` (which may be batched) with `value` in every element: a scalar constant and a broadcast.
mlir::Value BuildSplat(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type, double value);

// Elementwise ops; operands have the same type.
mlir::Value BuildNeg(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x);
mlir::Value BuildExp(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x);
mlir::Value BuildLog(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x);
mlir::Value BuildRsqrt(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x);
mlir::Value BuildSign(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x);
mlir::Value BuildAdd(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value BuildSub(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value BuildMul(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value BuildDiv(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y);
mlir::Value BuildPow(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Value y);
// The second operand is a number.
mlir::Value BuildAdd(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, double y);
mlir::Value BuildMul(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, double y);
// The result is boolean.
mlir::Value BuildCompare(mlir::OpBuilder& b, mlir::Location loc, ComparePredicate predicate, mlir::Value x,
                         mlir::Value y);
mlir::Value BuildSelect(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, mlir::Value x, mlir::Value y);
// Converts x to another element type.
mlir::Value BuildCast(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Type element_type);

// Broadcasts x to `type`: dimension i of x becomes dimension dims[i] of the result.
mlir::Value BuildBroadcast(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Type type,
                           llvm::ArrayRef<int64_t> dims);
// Returns all axes of `v` except the last.
llvm::SmallVector<int64_t> LeadingAxes(mlir::Value v);
// Repeats `row` ([...]) along the last axis of `like` ([..., n]).
mlir::Value BuildAlongRows(mlir::OpBuilder& b, mlir::Location loc, mlir::Value row, mlir::Value like);
// Returns x itself if it has the type already.
mlir::Value BuildReshape(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, mlir::Type type);
mlir::Value BuildTranspose(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<int64_t> permutation);
// Reduces x over `axes`, which the result does not have. `scope` matters only for axis 0 of a batched x.
mlir::Value BuildReduce(mlir::OpBuilder& b, mlir::Location loc, ReduceKind kind, mlir::Value x,
                        llvm::ArrayRef<int64_t> axes, BatchScope scope = BatchScope::kGlobal);
// The gradient of BuildBroadcast: sums dy over the dimensions that are not in `dims`. A sum over the batch has the
// scope ScopeOf(x).
mlir::Value BuildSumTo(mlir::OpBuilder& b, mlir::Location loc, mlir::Value dy, llvm::ArrayRef<int64_t> dims,
                       mlir::Value x);

// Returns the scope of the sum over the batch in the gradient of `value`: replica, a sum over the rows of one replica,
// if replicas hold different values of it (VariesByReplica); else global.
BatchScope ScopeOf(mlir::Value value);

mlir::Value BuildCrossReplica(mlir::OpBuilder& b, mlir::Location loc, CrossReplicaKind kind, mlir::Value x);

// True if the elements are floating-point numbers.
bool IsFloat(mlir::Value value);
// True if every element is `v`: a splat constant or its broadcast.
bool IsSplat(mlir::Value value, double v);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_BUILD_H_
