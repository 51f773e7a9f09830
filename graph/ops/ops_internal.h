// Helpers that the functions of graph/ops.h share.
#ifndef TANDEM_GRAPH_OPS_OPS_INTERNAL_H_
#define TANDEM_GRAPH_OPS_OPS_INTERNAL_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph_builder.h"

namespace tandem::internal {

// The graph of the first tensor that has one; null when all are default-constructed.
GraphBuilder* GraphOf(absl::Span<const Tensor> tensors);

// Returns the result of an op whose operands belong to no graph: a poisoned tensor with the first operand's error, or
// with the error that there is no graph.
Tensor WithoutGraph(absl::string_view op, absl::Span<const Tensor> operands, SourceLocation loc);

// Like WithoutGraph, for an op whose argument `graph` is null.
Tensor WithoutBuilder(absl::string_view op, SourceLocation loc);

// Emits td.<op> in the graph of its operands; poisoned if there is none.
Tensor EmitOp(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs, SourceLocation loc);

// True if the operands of a composed op are valid tensors of one graph without an error; otherwise `failed` is the op's
// result.
bool Usable(absl::string_view op, absl::Span<const Tensor> operands, SourceLocation loc, Tensor* failed);

// Broadcasts both operands to their common shape. False after an error, which names `op`, or if one of them is
// poisoned.
bool BroadcastTogether(absl::string_view op, Tensor* x, Tensor* y, SourceLocation loc);

// A scalar constant of `like`'s dtype; poisoned, with an error that names `op`, if the dtype cannot hold `value`.
Tensor NumberLike(absl::string_view op, const Tensor& like, double value, SourceLocation loc);

// Resolves a negative `axis` of x. Returns -1 after an error: the axis does not exist or is the batch.
int64_t AxisBesidesBatch(absl::string_view op, const Tensor& x, int64_t axis, SourceLocation loc);

// Checks that a tensor can have this shape. Returns false after reporting an error.
bool CheckShape(absl::string_view op, GraphBuilder* graph, const Shape& shape, SourceLocation loc);

// CheckFloats reports an error and returns false if x is not floating-point, CheckNumbers if x is bool.
bool CheckFloats(absl::string_view op, const Tensor& x, SourceLocation loc);
bool CheckNumbers(absl::string_view op, const Tensor& x, SourceLocation loc);

// Resolves negative axes, sorts them and removes repetitions; empty: all. False after an error.
bool NormalizeAxes(absl::string_view op, const Tensor& x, std::vector<int64_t>* axes, SourceLocation loc);

bool IsFloat(DType dtype);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_OPS_OPS_INTERNAL_H_
