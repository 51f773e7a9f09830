#include "graph/ops/ops_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "graph/module/graph_module.h"
#include "graph/ops.h"

namespace tandem::internal {

GraphBuilder* GraphOf(absl::Span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    if (t.graph() != nullptr) return t.graph();
  }
  return nullptr;
}

namespace {

Tensor Misplaced(absl::string_view op, absl::string_view problem, SourceLocation loc) {
  return Tensor::Poisoned(absl::InvalidArgumentError(
      absl::StrCat(op, " \"", OpDisplayName(op, {}), "\" at ", loc.file, ":", loc.line, ": ", problem)));
}

}  // namespace

Tensor WithoutGraph(absl::string_view op, absl::Span<const Tensor> operands, SourceLocation loc) {
  if (operands.empty()) return Misplaced(op, "there are no operands", loc);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].expired()) return Misplaced(op, absl::StrCat("operand ", i, " ", WhyAbsent(operands[i])), loc);
    if (!operands[i].empty()) return operands[i];
  }
  return Misplaced(op, absl::StrCat("operand 0 ", WhyAbsent(operands[0])), loc);
}

Tensor WithoutBuilder(absl::string_view op, SourceLocation loc) { return Misplaced(op, "the graph is null", loc); }

Tensor EmitOp(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs, SourceLocation loc) {
  GraphBuilder* graph = GraphOf(operands);
  return graph ? graph->Emit(op, operands, attrs, loc) : WithoutGraph(op, operands, loc);
}

bool Usable(absl::string_view op, absl::Span<const Tensor> operands, SourceLocation loc, Tensor* failed) {
  GraphBuilder* graph = GraphOf(operands);
  bool usable = graph != nullptr && graph->status().ok();
  for (const Tensor& t : operands) usable = usable && t.ok() && t.graph() == graph;
  if (!usable) *failed = EmitOp(op, operands, {}, loc);  // td.op itself reports what is wrong with the operands
  return usable;
}

bool BroadcastTogether(absl::string_view op, Tensor* x, Tensor* y, SourceLocation loc) {
  GraphBuilder* graph = GraphOf({*x, *y});
  if (graph == nullptr || !graph->status().ok()) return false;
  if (!x->ok() || !y->ok() || x->graph() != y->graph()) {
    graph->Emit(op, {*x, *y}, {}, loc);  // td.op itself reports what is wrong with the operands
    return false;
  }
  Shape a = x->shape(), b = y->shape();
  if (a == b) return true;
  Shape result(std::max(a.size(), b.size()));
  bool ok = true;
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t p = i < a.size() ? a[a.size() - 1 - i] : 1, q = i < b.size() ? b[b.size() - 1 - i] : 1;
    ok = ok && (p == q || p == 1 || q == 1);
    result[result.size() - 1 - i] = p == 1 ? q : p;
  }
  for (size_t i = 1; i < result.size(); ++i) ok = ok && result[i] != kBatch;
  if (!ok) {
    graph->FailAt(
        op,
        absl::StrCat(
            "shapes ", ShapeString(a), " and ", ShapeString(b),
            " do not broadcast: counted from the last, sizes must be equal or 1; Reshape or Slice one of them"),
        loc);
    return false;
  }
  *x = Broadcast(*x, result, loc);
  *y = Broadcast(*y, result, loc);
  return x->ok() && y->ok();
}

bool IsFloat(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

Tensor NumberLike(absl::string_view op, const Tensor& like, double value, SourceLocation loc) {
  GraphBuilder* graph = like.graph();
  if (!like.ok() || graph == nullptr) return Tensor();
  auto whole = [&](double low, double high) { return std::trunc(value) == value && value >= low && value <= high; };
  switch (like.dtype()) {
    case DType::kFloat32:
      return graph->Constant(HostTensor::Scalar(static_cast<float>(value)), loc);
    case DType::kFloat64:
      return graph->Constant(HostTensor::Scalar(value), loc);
    case DType::kInt32:
      if (!whole(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max())) break;
      return graph->Constant(HostTensor::Scalar(static_cast<int32_t>(value)), loc);
    case DType::kInt64:
      if (!whole(-0x1p63, 0x1p63 - 1024)) break;
      return graph->Constant(HostTensor::Scalar(static_cast<int64_t>(value)), loc);
    default:
      break;
  }
  return graph->FailAt(
      op,
      absl::StrCat("the number ", value, " does not fit the tensor's dtype ", Name(like.dtype()), "; Cast it first"),
      loc);
}

bool NormalizeAxes(absl::string_view op, const Tensor& x, std::vector<int64_t>* axes, SourceLocation loc) {
  int64_t rank = x.rank();
  if (axes->empty()) {
    for (int64_t i = 0; i < rank; ++i) axes->push_back(i);
    return true;
  }
  for (int64_t& a : *axes) {
    if (a < -rank || a >= rank) {
      x.graph()->FailAt(op, absl::StrCat("axis ", a, " is not a dimension of ", ShapeString(x.shape())), loc);
      return false;
    }
    if (a < 0) a += rank;
  }
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end()) {
    x.graph()->FailAt(op, absl::StrCat("axes name a dimension of ", ShapeString(x.shape()), " twice"), loc);
    return false;
  }
  return true;
}

int64_t AxisBesidesBatch(absl::string_view op, const Tensor& x, int64_t axis, SourceLocation loc) {
  const Shape shape = x.shape();
  const int64_t rank = x.rank(), resolved = axis < 0 ? axis + rank : axis;
  if (axis < -rank || axis >= rank) {
    x.graph()->FailAt(op, absl::StrCat("axis ", axis, " is not a dimension of ", ShapeString(shape)), loc);
    return -1;
  }
  if (shape[resolved] == kBatch) {
    x.graph()->FailAt(op,
                      absl::StrCat("axis ", axis, " is the batch of ", ShapeString(shape),
                                   ", whose rows must not mix; choose another axis"),
                      loc);
    return -1;
  }
  return resolved;
}

bool CheckShape(absl::string_view op, GraphBuilder* graph, const Shape& shape, SourceLocation loc) {
  const bool batched = !shape.empty() && shape[0] == kBatch;
  const absl::Span<const int64_t> sizes = absl::MakeConstSpan(shape).subspan(batched ? 1 : 0);
  std::string problem;
  for (int64_t size : sizes) {
    if (size < 1) {
      problem = absl::StrCat(" must have sizes of at least 1", size == kBatch ? "; the batch is dimension 0 only" : "");
    }
  }
  if (problem.empty() && CheckedNumElements(sizes) < 0) problem = " has more elements than can be addressed";
  if (!problem.empty()) graph->FailAt(op, absl::StrCat("the shape ", ShapeString(shape), problem), loc);
  return problem.empty();
}

namespace {

bool FailOfType(absl::string_view op, const Tensor& x, absl::string_view wanted, SourceLocation loc) {
  x.graph()->FailAt(op,
                    absl::StrCat("needs ", wanted, ", got ", Name(x.dtype()), " ", ShapeString(x.shape()),
                                 "; convert it with Cast(x, DType::kFloat32)"),
                    loc);
  return false;
}

}  // namespace

bool CheckFloats(absl::string_view op, const Tensor& x, SourceLocation loc) {
  return IsFloat(x.dtype()) || FailOfType(op, x, "floating-point numbers", loc);
}

bool CheckNumbers(absl::string_view op, const Tensor& x, SourceLocation loc) {
  return IsFloat(x.dtype()) || x.dtype() == DType::kInt32 || x.dtype() == DType::kInt64 ||
         FailOfType(op, x, "numbers", loc);
}

}  // namespace tandem::internal
