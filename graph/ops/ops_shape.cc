#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/element_count.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::EmitOp;

Tensor Broadcast(const Tensor& x, const Shape& shape, SourceLocation loc) {
  if (!x.ok()) return EmitOp("broadcast", {x}, {}, loc);
  Shape from = x.shape();
  if (from == shape) return x;
  size_t offset = shape.size() - from.size();
  bool ok = from.size() <= shape.size();
  Shape kept;  // x's shape without its dimensions of size 1 that the result repeats
  std::vector<int64_t> dims;
  for (size_t i = 0; ok && i < from.size(); ++i) {
    int64_t to = shape[offset + i];
    if (from[i] == to) {
      kept.push_back(from[i]);
      dims.push_back(static_cast<int64_t>(offset + i));
    } else {
      ok = from[i] == 1;
    }
  }
  if (!ok) {
    return x.graph()->FailAt(
        "broadcast", absl::StrCat("shape ", ShapeString(from), " does not broadcast to ", ShapeString(shape)), loc);
  }
  Tensor y = kept == from ? x : Reshape(x, kept, loc);
  return EmitOp("broadcast", {y}, {{"shape", shape}, {"dims", dims}}, loc);
}

Tensor Reshape(const Tensor& x, const Shape& shape, SourceLocation loc) {
  if (!x.ok()) return EmitOp("reshape", {x}, {{"shape", shape}}, loc);
  const Shape from = x.shape();
  if (from == shape) return x;
  const size_t first = !from.empty() && from[0] == kBatch ? 1 : 0;  // the first dimension that is not the batch
  const auto rest = std::find(shape.begin() + std::min(first, shape.size()), shape.end(), -1);
  const bool keeps_batch = first == 0 || (!shape.empty() && shape[0] == kBatch);
  if (rest == shape.end() || !keeps_batch) return EmitOp("reshape", {x}, {{"shape", shape}}, loc);
  Shape to = shape, sizes(shape.begin() + first, shape.end());
  sizes.erase(sizes.begin() + (rest - shape.begin() - first));
  const int64_t elements = NumElements(absl::MakeConstSpan(from).subspan(first)), given = CheckedNumElements(sizes);
  std::string problem;
  if (std::count(sizes.begin(), sizes.end(), -1) > 0) {
    problem = first == 1 ? "has more than one -1 after the batch; only one size can be what is left"
                         : "has more than one -1; only one size can be what is left";
  } else if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 1; })) {
    problem = "must have sizes of at least 1, and one of -1 for what is left";
  } else if (given < 1 || elements % given != 0) {
    problem = absl::StrCat("leaves no whole size for the -1: ", ShapeString(from), " has ", elements, " elements",
                           first == 1 ? " per example" : "", ", and the other sizes do not divide it");
  }
  if (!problem.empty()) {
    return x.graph()->FailAt("reshape", absl::StrCat("the shape [", absl::StrJoin(shape, ","), "] ", problem), loc);
  }
  to[rest - shape.begin()] = elements / given;
  return to == from ? x : EmitOp("reshape", {x}, {{"shape", to}}, loc);
}

Tensor Transpose(const Tensor& x, const std::vector<int64_t>& permutation, SourceLocation loc) {
  return EmitOp("transpose", {x}, {{"permutation", permutation}}, loc);
}

Tensor Slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size, SourceLocation loc) {
  return EmitOp("slice", {x}, {{"begin", begin}, {"size", size}}, loc);
}

Tensor Pad(const Tensor& x, const std::vector<int64_t>& low, const std::vector<int64_t>& high, double value,
           SourceLocation loc) {
  return EmitOp("pad", {x}, {{"low", low}, {"high", high}, {"value", value}}, loc);
}

Tensor Concat(const std::vector<Tensor>& xs, int64_t axis, SourceLocation loc) {
  if (axis < 0 && !xs.empty()) axis += xs[0].rank();
  return EmitOp("concat", xs, {{"axis", axis}}, loc);
}

Tensor Gather(const Tensor& params, const Tensor& indices, SourceLocation loc) {
  if (params.ok() && params.rank() > 0 && params.shape()[0] == kBatch) {
    return params.graph()->FailAt("gather",
                                  absl::StrCat("params ", ShapeString(params.shape()),
                                               " must not be batched: rows would mix; GatherRows takes of each example "
                                               "its own rows"),
                                  loc);
  }
  return EmitOp("gather", {params, indices}, {}, loc);
}

Tensor OneHot(const Tensor& indices, int64_t depth, DType dtype, SourceLocation loc) {
  if (!indices.ok()) return EmitOp("one_hot", {indices}, {}, loc);
  if (depth < 1) return indices.graph()->FailAt("one_hot", absl::StrCat("depth ", depth, " must be positive"), loc);
  if (dtype == DType::kInvalid) return indices.graph()->FailAt("one_hot", "the result has no dtype", loc);
  if (dtype == DType::kString) return indices.graph()->FailAt("one_hot", "the result cannot be string", loc);
  Shape shape = indices.shape();
  shape.push_back(depth);
  return EmitOp("one_hot", {indices}, {{"shape", shape}, {"dtype", dtype}}, loc);
}

Tensor Iota(GraphBuilder* graph, const Shape& shape, int64_t axis, DType dtype, SourceLocation loc) {
  if (graph == nullptr) return internal::WithoutBuilder("iota", loc);
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  return graph->Emit("iota", {}, {{"axis", axis}, {"shape", shape}, {"dtype", dtype}}, loc);
}

}  // namespace tandem
