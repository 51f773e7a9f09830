// Shared by graph/ops_*.cc.
#ifndef TANDEM_GRAPH_OPS_INTERNAL_H_
#define TANDEM_GRAPH_OPS_INTERNAL_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph_builder.h"

namespace tandem::internal {

// The graph of the first tensor that has one; null when all are default-constructed.
GraphBuilder* GraphOf(absl::Span<const Tensor> tensors);

// What an op returns whose operands are of no graph: a tensor with the first operand's error, or one that says that
// there is none.
Tensor WithoutGraph(absl::string_view op, absl::Span<const Tensor> operands, SourceLocation loc);

// The same for an op that is given its graph, and got null.
Tensor WithoutBuilder(absl::string_view op, SourceLocation loc);

// td.<op> in the graph of its operands; poisoned when there is none.
Tensor EmitOp(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs, SourceLocation loc);

// Whether the operands of a composed op are good tensors of one graph, which has no error; otherwise `failed` is what
// the op returns.
bool Usable(absl::string_view op, absl::Span<const Tensor> operands, SourceLocation loc, Tensor* failed);

// Both operands broadcast to their common shape. False after an error, or when one of them is poisoned; the error names
// `op`.
bool BroadcastTogether(absl::string_view op, Tensor* x, Tensor* y, SourceLocation loc);

// A number as a scalar constant of `like`'s dtype; poisoned (with an error that names `op`) where the dtype cannot hold
// it.
Tensor NumberLike(absl::string_view op, const Tensor& like, double value, SourceLocation loc);

// An axis of x from 0 on that is not the batch; -1 after an error.
int64_t AxisBesidesBatch(absl::string_view op, const Tensor& x, int64_t axis, SourceLocation loc);

// False after an error: `shape` is that of no tensor.
bool CheckShape(absl::string_view op, GraphBuilder* graph, const Shape& shape, SourceLocation loc);

// False after an error: x is not floating-point, or, of CheckNumbers, bool.
bool CheckFloats(absl::string_view op, const Tensor& x, SourceLocation loc);
bool CheckNumbers(absl::string_view op, const Tensor& x, SourceLocation loc);

// Axes from 0 on, sorted, without repetition; empty = all. False after an error.
bool NormalizeAxes(absl::string_view op, const Tensor& x, std::vector<int64_t>* axes, SourceLocation loc);

bool IsFloat(DType dtype);

}  // namespace tandem::internal

#endif  // TANDEM_GRAPH_OPS_INTERNAL_H_
