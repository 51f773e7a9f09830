// Ops that pair the rows of a batch. Each row is written to its own place, by its number, in a tensor of zeros; the sum
// of these tensors over the batch then holds all rows.
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::CheckFloats;
using internal::Usable;

namespace {

// False after an error: `rows` is not a valid number of rows.
bool CheckRows(absl::string_view op, GraphBuilder* graph, int64_t rows, SourceLocation loc) {
  constexpr int64_t kMaxRows = 1 << 24;  // up to there a step's float32 example_count is exact
  if (rows >= 1 && rows <= kMaxRows) return true;
  graph->FailAt(op,
                absl::StrCat("`rows` must be from 1 to ", kMaxRows, ", got ", rows,
                             "; give the examples of a step, batch_size * params.num_replicas()"),
                loc);
  return false;
}

}  // namespace

Tensor GatherBatch(const Tensor& x, int64_t rows, SourceLocation loc) {
  constexpr char kOp[] = "gather_batch";
  Tensor failed;
  if (!Usable(kOp, {x}, loc, &failed)) return failed;
  GraphBuilder* graph = x.graph();
  if (!CheckFloats(kOp, x, loc) || !CheckRows(kOp, graph, rows, loc)) return graph->Poisoned();
  if (x.rank() < 1 || x.shape()[0] != kBatch) {
    return graph->FailAt(kOp, absl::StrCat("needs a tensor of examples, [b, ...], got ", ShapeString(x.shape())), loc);
  }
  NameScope scope(graph, graph->UniqueName(kOp));
  Shape shape = x.shape();
  shape[0] = rows;
  const Tensor row = Iota(graph, {kBatch}, 0, DType::kInt64, loc);
  const Tensor gathered = internal::EmitOp("scatter_add", {x, row}, {{"shape", shape}, {"dtype", x.dtype()}}, loc);
  const Tensor count = graph->StepScalar("example_count", DType::kFloat32, std::nullopt, loc);
  const Tensor fits = LessEqual(count, static_cast<double>(rows), loc);
  return Select(fits, gathered, FullLike(gathered, std::numeric_limits<double>::quiet_NaN(), loc), loc);
}

Tensor BatchMask(GraphBuilder* graph, int64_t rows, SourceLocation loc) {
  constexpr char kOp[] = "batch_mask";
  if (graph == nullptr) return internal::WithoutBuilder(kOp, loc);
  if (!graph->status().ok() || !CheckRows(kOp, graph, rows, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName(kOp));
  const Tensor count = graph->StepScalar("example_count", DType::kFloat32, std::nullopt, loc);
  const Tensor row = Iota(graph, {rows}, 0, DType::kFloat32, loc);
  return Cast(Less(row, count, loc), DType::kFloat32, loc);
}

Tensor PairwiseProducts(const Tensor& x, const Tensor& y, int64_t rows, SourceLocation loc) {
  constexpr char kOp[] = "pairwise_products";
  Tensor failed;
  if (!Usable(kOp, {x, y}, loc, &failed)) return failed;
  GraphBuilder* graph = x.graph();
  const Shape shape = x.shape();
  if (x.rank() != 2 || shape[0] != kBatch || shape != y.shape() || x.dtype() != y.dtype()) {
    return graph->FailAt(kOp,
                         absl::StrCat("needs two tensors [b, d] of one type, got ", Name(x.dtype()), " ",
                                      ShapeString(shape), " and ", Name(y.dtype()), " ", ShapeString(y.shape())),
                         loc);
  }
  NameScope scope(graph, graph->UniqueName(kOp));
  return MatMul(x, GatherBatch(y, rows, loc), false, /*transpose_b=*/true, loc);
}

}  // namespace tandem
