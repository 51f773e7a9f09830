#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::EmitOp;

namespace {

Tensor Reduce(const std::string& kind, const Tensor& x, std::vector<int64_t> axes, bool keep_dims, SourceLocation loc) {
  const std::string name = absl::StrCat("reduce_", kind);
  if (!x.ok()) return EmitOp(name, {x}, {}, loc);
  if (!internal::NormalizeAxes(name, x, &axes, loc)) return x.graph()->Poisoned();
  if (axes.empty()) return x;  // x is a scalar
  Tensor y = EmitOp("reduce", {x}, {{"kind", kind}, {"axes", axes}}, loc);
  if (!keep_dims || !y.ok()) return y;
  Shape shape = x.shape();
  for (int64_t a : axes) shape[a] = 1;
  return Reshape(y, shape, loc);
}

}  // namespace

Tensor ReduceSum(const Tensor& x, std::vector<int64_t> axes, bool keep_dims, SourceLocation loc) {
  return Reduce("sum", x, std::move(axes), keep_dims, loc);
}
Tensor ReduceMax(const Tensor& x, std::vector<int64_t> axes, bool keep_dims, SourceLocation loc) {
  return Reduce("max", x, std::move(axes), keep_dims, loc);
}
Tensor ReduceMin(const Tensor& x, std::vector<int64_t> axes, bool keep_dims, SourceLocation loc) {
  return Reduce("min", x, std::move(axes), keep_dims, loc);
}

Tensor ReduceMean(const Tensor& x, std::vector<int64_t> axes, bool keep_dims, SourceLocation loc) {
  if (!x.ok()) return EmitOp("reduce_mean", {x}, {}, loc);
  if (!internal::IsFloat(x.dtype())) {
    return x.graph()->FailAt("reduce_mean",
                             absl::StrCat("needs floating-point numbers, not ", Name(x.dtype()), "; Cast first"), loc);
  }
  if (!internal::NormalizeAxes("reduce_mean", x, &axes, loc)) return x.graph()->Poisoned();
  if (axes.empty()) return x;  // x is a scalar
  Tensor sum = Reduce("sum", x, axes, keep_dims, loc);
  double elements = 1;
  bool over_batch = false;
  for (int64_t a : axes) {
    int64_t d = x.shape()[a];
    if (d == kBatch) {
      over_batch = true;
    } else {
      elements *= static_cast<double>(d);
    }
  }
  if (!over_batch) return Div(sum, elements, loc);
  // The number of examples of the whole global batch, known only at run time.
  Tensor count = Cast(x.graph()->StepScalar("example_count", DType::kFloat32, std::nullopt, loc), x.dtype(), loc);
  return Div(sum, elements == 1 ? count : Mul(count, elements, loc), loc);
}

namespace {

Tensor CrossReplica(const std::string& kind, const char* op, const Tensor& x, SourceLocation loc) {
  if (!x.ok()) return EmitOp("cross_replica", {x}, {{"kind", kind}}, loc);
  GraphBuilder* graph = x.graph();
  if (!internal::IsFloat(x.dtype())) {
    return graph->FailAt(op, absl::StrCat("needs floating-point numbers, not ", Name(x.dtype()), "; Cast first"), loc);
  }
  if (x.rank() > 0 && x.shape()[0] == kBatch) {
    return graph->FailAt(op,
                         absl::StrCat("cannot combine rows of the batch, ", ShapeString(x.shape()),
                                      "; reduce over axis 0, which counts the rows of all replicas"),
                         loc);
  }
  if (!graph->VariesByReplica(x)) {
    return graph->FailAt(op, absl::StrCat("\"", x.name(), "\" is the same on all replicas already; use it as it is"),
                         loc);
  }
  return EmitOp("cross_replica", {x}, {{"kind", kind}}, loc);
}

}  // namespace

Tensor CrossReplicaSum(const Tensor& x, SourceLocation loc) { return CrossReplica("sum", "cross_replica_sum", x, loc); }
Tensor CrossReplicaMean(const Tensor& x, SourceLocation loc) {
  return CrossReplica("mean", "cross_replica_mean", x, loc);
}

Tensor ArgMax(const Tensor& x, int64_t axis, SourceLocation loc) {
  if (axis < 0 && axis >= -x.rank()) axis += x.rank();
  return EmitOp("argmax", {x}, {{"axis", axis}}, loc);
}

}  // namespace tandem
