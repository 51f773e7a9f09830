// Ops made of other ops: constants, shapes, elementwise functions and norms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::CheckFloats;
using internal::Usable;

namespace {

constexpr int64_t kMaxParts = 1 << 20;

// Returns a constant of any dtype that programs can compute with.
Tensor FullOf(absl::string_view op, GraphBuilder* graph, const Shape& shape, double value, DType dtype,
              SourceLocation loc) {
  if (!graph->status().ok() || !internal::CheckShape(op, graph, shape, loc)) return graph->Poisoned();
  HostTensor number;
  auto whole = [&](double low, double high) { return std::trunc(value) == value && value >= low && value <= high; };
  switch (dtype) {
    case DType::kFloat32:
      number = HostTensor::Scalar(static_cast<float>(value));
      break;
    case DType::kFloat64:
      number = HostTensor::Scalar(value);
      break;
    case DType::kInt32:
      if (whole(-0x1p31, 0x1p31 - 1)) number = HostTensor::Scalar(static_cast<int32_t>(value));
      break;
    case DType::kInt64:
      if (whole(-0x1p63, 0x1p63 - 1024)) number = HostTensor::Scalar(static_cast<int64_t>(value));
      break;
    case DType::kUInt8:
      if (whole(0, 255)) number = HostTensor::Scalar(static_cast<uint8_t>(value));
      break;
    case DType::kBool:
      if (whole(0, 1)) number = HostTensor::Scalar(value == 1);
      break;
    case DType::kBFloat16:
    case DType::kString:
    case DType::kInvalid:
      return graph->FailAt(
          op, dtype == DType::kInvalid ? "the result has no dtype" : absl::StrCat("cannot be ", Name(dtype)), loc);
  }
  if (number.empty()) {
    return graph->FailAt(
        op, absl::StrCat("the number ", value, " does not fit the dtype ", Name(dtype), "; choose another dtype"), loc);
  }
  return Broadcast(graph->Constant(number, loc), shape, loc);
}

Tensor FullAs(absl::string_view op, const Tensor& x, double value, SourceLocation loc) {
  Tensor failed;
  return Usable(op, {x}, loc, &failed) ? FullOf(op, x.graph(), x.shape(), value, x.dtype(), loc) : failed;
}

// Returns x's shape with a dimension of size 1 at `axis`, and resolves a negative `axis`; empty after an error.
Shape WithDimension(absl::string_view op, const Tensor& x, int64_t* axis, SourceLocation loc) {
  Shape shape = x.shape();
  const int64_t given = *axis, rank = x.rank() + 1;
  if (given < 0) *axis += rank;
  std::string problem;
  if (given < -rank || given >= rank) {
    problem = absl::StrCat("axis ", given, " is no place for a new dimension of ", ShapeString(shape), "; choose ",
                           -rank, " to ", rank - 1);
  } else if (*axis == 0 && !shape.empty() && shape[0] == kBatch) {
    problem = absl::StrCat("axis ", given, " is the batch of ", ShapeString(shape),
                           ", which stays dimension 0; choose 1 to ", rank - 1);
  }
  if (!problem.empty()) {
    x.graph()->FailAt(op, problem, loc);
    return {};
  }
  shape.insert(shape.begin() + *axis, 1);
  return shape;
}

// Returns `count` poisoned tensors, the result of an op that failed.
std::vector<Tensor> NoParts(const Tensor& failed, int64_t count) {
  return std::vector<Tensor>(static_cast<size_t>(std::clamp<int64_t>(count, 0, kMaxParts)), failed);
}

// Splits x along `axis` into parts whose sizes add up to its own.
std::vector<Tensor> PartsOf(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis, SourceLocation loc) {
  std::vector<int64_t> begin(x.rank(), 0), size = x.shape();
  std::vector<Tensor> parts;
  for (int64_t n : sizes) {
    size[axis] = n;
    parts.push_back(Slice(x, begin, size, loc));
    begin[axis] += n;
  }
  return parts;
}

// Splits x along `axis` into `count` equal parts; empty after an error.
std::vector<Tensor> EqualParts(absl::string_view op, const Tensor& x, int64_t count, int64_t axis, SourceLocation loc) {
  const int64_t size = x.shape()[axis];
  std::string problem;
  if (count < 1) {
    problem = absl::StrCat("the number of parts must be at least 1, got ", count);
  } else if (size % count != 0) {
    problem = absl::StrCat("axis ", axis, " of ", ShapeString(x.shape()), " has size ", size,
                           ", which is no multiple of ", count, "; give a list of sizes that add up to ", size);
  } else if (count > kMaxParts) {
    problem = absl::StrCat(count, " parts are too many; at most ", kMaxParts);
  }
  if (!problem.empty()) {
    x.graph()->FailAt(op, problem, loc);
    return {};
  }
  return PartsOf(x, std::vector<int64_t>(count, size / count), axis, loc);
}

// Returns the root of the sum of squares over `axes`, which become dimensions of size 1, with a slope of 0 at a zero
// vector.
Tensor KeptNorm(absl::string_view op, const Tensor& x, const std::vector<int64_t>& axes, SourceLocation loc) {
  Tensor squares = ReduceSum(Square(x, loc), axes, true, loc);
  Tensor zero = internal::NumberLike(op, x, 0, loc), one = internal::NumberLike(op, x, 1, loc);
  Tensor none = Equal(squares, zero, loc);
  return Select(none, zero, Sqrt(Select(none, one, squares, loc), loc), loc);
}

// Removes from `kept` the dimensions of size 1 that a reduction over `axes` of x left in it.
Tensor Dropped(const Tensor& kept, const Tensor& x, std::vector<int64_t> axes, SourceLocation loc) {
  if (!kept.ok() || !internal::NormalizeAxes("squeeze", x, &axes, loc)) return kept;
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) shape.push_back(x.shape()[i]);
  }
  return Reshape(kept, shape, loc);
}

// True if normally distributed numbers of that shape, mean and deviation can be drawn; false after reporting an error.
bool CheckNormal(absl::string_view op, GraphBuilder* graph, const Shape& shape, double mean, double stddev,
                 SourceLocation loc) {
  if (!graph->status().ok()) return false;
  if (std::isfinite(mean) && std::isfinite(stddev) && stddev >= 0) {
    return internal::CheckShape(op, graph, shape, loc);
  }
  graph->FailAt(op, absl::StrCat("needs a finite mean and a standard deviation >= 0, got ", mean, " and ", stddev),
                loc);
  return false;
}

}  // namespace

Tensor Full(GraphBuilder* graph, const Shape& shape, double value, DType dtype, SourceLocation loc) {
  if (graph == nullptr) return internal::WithoutBuilder("full", loc);
  return FullOf("full", graph, shape, value, dtype, loc);
}
Tensor FullLike(const Tensor& x, double value, SourceLocation loc) { return FullAs("full_like", x, value, loc); }
Tensor ZerosLike(const Tensor& x, SourceLocation loc) { return FullAs("zeros_like", x, 0, loc); }
Tensor OnesLike(const Tensor& x, SourceLocation loc) { return FullAs("ones_like", x, 1, loc); }

Tensor OneHot(const Tensor& indices, int64_t depth, double on_value, double off_value, DType dtype,
              SourceLocation loc) {
  Tensor failed;
  if (!Usable("one_hot", {indices}, loc, &failed)) return failed;
  Tensor on = FullOf("one_hot", indices.graph(), {}, on_value, dtype, loc);
  Tensor off = FullOf("one_hot", indices.graph(), {}, off_value, dtype, loc);
  Tensor hot = OneHot(indices, depth, DType::kFloat32, loc);
  if (!on.ok() || !off.ok() || !hot.ok()) return indices.graph()->Poisoned();
  return Select(Greater(hot, 0.5, loc), on, off, loc);
}

Tensor Stack(const std::vector<Tensor>& xs, int64_t axis, SourceLocation loc) {
  Tensor failed;
  if (!Usable("stack", xs, loc, &failed)) return failed;
  for (size_t i = 1; i < xs.size(); ++i) {
    if (xs[i].shape() == xs[0].shape() && xs[i].dtype() == xs[0].dtype()) continue;
    return xs[0].graph()->FailAt(
        "stack",
        absl::StrCat("operand ", i, " is ", Name(xs[i].dtype()), " ", ShapeString(xs[i].shape()), ", and operand 0 ",
                     Name(xs[0].dtype()), " ", ShapeString(xs[0].shape()), "; all need one shape and dtype"),
        loc);
  }
  const Shape shape = WithDimension("stack", xs[0], &axis, loc);
  if (shape.empty()) return xs[0].graph()->Poisoned();
  std::vector<Tensor> parts;
  for (const Tensor& x : xs) parts.push_back(Reshape(x, shape, loc));
  return Concat(parts, axis, loc);
}

std::vector<Tensor> Unstack(const Tensor& x, int64_t count, int64_t axis, SourceLocation loc) {
  Tensor failed;
  if (!Usable("unstack", {x}, loc, &failed)) return NoParts(failed, count);
  failed = x.graph()->Poisoned();
  axis = internal::AxisBesidesBatch("unstack", x, axis, loc);
  if (axis < 0) return NoParts(failed, count);
  Shape shape = x.shape();
  if (shape[axis] != count) {
    x.graph()->FailAt("unstack",
                      absl::StrCat("axis ", axis, " of ", ShapeString(shape), " has size ", shape[axis], ", not ",
                                   count, "; `count` must be that size"),
                      loc);
    return NoParts(failed, count);
  }
  std::vector<Tensor> parts = EqualParts("unstack", x, count, axis, loc);
  if (parts.empty()) return NoParts(failed, count);
  shape.erase(shape.begin() + axis);
  for (Tensor& part : parts) part = Reshape(part, shape, loc);
  return parts;
}

std::vector<Tensor> Split(const Tensor& x, int64_t count, int64_t axis, SourceLocation loc) {
  Tensor failed;
  if (!Usable("split", {x}, loc, &failed)) return NoParts(failed, count);
  failed = x.graph()->Poisoned();
  axis = internal::AxisBesidesBatch("split", x, axis, loc);
  if (axis < 0) return NoParts(failed, count);
  std::vector<Tensor> parts = EqualParts("split", x, count, axis, loc);
  return parts.empty() ? NoParts(failed, count) : parts;
}

std::vector<Tensor> Split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis, SourceLocation loc) {
  const int64_t count = static_cast<int64_t>(sizes.size());
  Tensor failed;
  if (!Usable("split", {x}, loc, &failed)) return NoParts(failed, count);
  failed = x.graph()->Poisoned();
  axis = internal::AxisBesidesBatch("split", x, axis, loc);
  if (axis < 0) return NoParts(failed, count);
  const int64_t size = x.shape()[axis];
  std::vector<int64_t> resolved = sizes;
  int64_t left = size, open = 0;
  bool good = !sizes.empty();
  for (int64_t n : sizes) {
    open += n == -1;
    good = good && (n == -1 || (n >= 1 && n <= size));
    if (good && n != -1) left -= n;
  }
  good = good && (open == 0 ? left == 0 : open == 1 && left >= 1);
  if (!good) {
    x.graph()->FailAt(
        "split",
        absl::StrCat("sizes {", absl::StrJoin(sizes, ", "), "} must add up to ", size, ", the size of axis ", axis,
                     " of ", ShapeString(x.shape()), "; one may be -1, for what is left"),
        loc);
    return NoParts(failed, count);
  }
  std::replace(resolved.begin(), resolved.end(), int64_t{-1}, left);
  return PartsOf(x, resolved, axis, loc);
}

Tensor ExpandDims(const Tensor& x, int64_t axis, SourceLocation loc) {
  Tensor failed;
  if (!Usable("expand_dims", {x}, loc, &failed)) return failed;
  const Shape shape = WithDimension("expand_dims", x, &axis, loc);
  return shape.empty() ? x.graph()->Poisoned() : Reshape(x, shape, loc);
}

Tensor Squeeze(const Tensor& x, std::vector<int64_t> axes, SourceLocation loc) {
  Tensor failed;
  if (!Usable("squeeze", {x}, loc, &failed)) return failed;
  const Shape from = x.shape();
  const bool all = axes.empty();
  if (!internal::NormalizeAxes("squeeze", x, &axes, loc)) return x.graph()->Poisoned();
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool dropped = std::binary_search(axes.begin(), axes.end(), i);
    if (dropped && from[i] == 1) continue;
    if (dropped && !all) {
      const std::string size = from[i] == kBatch ? "is the batch" : absl::StrCat("has size ", from[i]);
      return x.graph()->FailAt("squeeze",
                               absl::StrCat("axis ", i, " of ", ShapeString(from), " ", size,
                                            ", and only dimensions of size 1 can be dropped; leave it out of `axes`"),
                               loc);
    }
    shape.push_back(from[i]);
  }
  return Reshape(x, shape, loc);
}

Tensor Repeat(const Tensor& x, int64_t count, int64_t axis, SourceLocation loc) {
  Tensor failed;
  if (!Usable("repeat", {x}, loc, &failed)) return failed;
  axis = internal::AxisBesidesBatch("repeat", x, axis, loc);
  if (axis < 0) return x.graph()->Poisoned();
  if (count < 1 || count > (int64_t{1} << 40)) {
    return x.graph()->FailAt("repeat", absl::StrCat("`count` must be at least 1, and at most 2^40, got ", count), loc);
  }
  Shape wide = x.shape();
  wide.insert(wide.begin() + axis + 1, count);
  if (!internal::CheckShape("repeat", x.graph(), wide, loc)) return x.graph()->Poisoned();
  Shape result = x.shape();
  result[axis] *= count;
  return Reshape(Broadcast(ExpandDims(x, axis + 1, loc), wide, loc), result, loc);
}

Tensor Round(const Tensor& x, SourceLocation loc) {
  Tensor failed;
  if (!Usable("round", {x}, loc, &failed)) return failed;
  if (!CheckFloats("round", x, loc)) return x.graph()->Poisoned();
  NameScope scope(x.graph(), x.graph()->UniqueName("round"));
  Tensor below = Floor(x, loc), above = Add(below, 1, loc);
  // x + 0.5 would be rounded. The difference is exact, except for x between -0.5 and 0, where it is at least 0.5, and
  // `above` and `even` are both 0.
  Tensor part = Sub(x, below, loc);
  Tensor even = Mul(Floor(Mul(above, 0.5, loc), loc), 2, loc);
  return Select(Less(part, 0.5, loc), below, Select(Greater(part, 0.5, loc), above, even, loc), loc);
}

Tensor Ceil(const Tensor& x, SourceLocation loc) {
  Tensor failed;
  if (!Usable("ceil", {x}, loc, &failed)) return failed;
  if (!CheckFloats("ceil", x, loc)) return x.graph()->Poisoned();
  return Neg(Floor(Neg(x, loc), loc), loc);
}

Tensor ClipByValue(const Tensor& x, double low, double high, SourceLocation loc) {
  Tensor failed;
  if (!Usable("clip_by_value", {x}, loc, &failed)) return failed;
  if (!internal::CheckNumbers("clip_by_value", x, loc)) return x.graph()->Poisoned();
  if (!(low <= high)) {
    return x.graph()->FailAt("clip_by_value", absl::StrCat("`low` must not be above `high`, got ", low, " and ", high),
                             loc);
  }
  Tensor y = x;
  if (low > -std::numeric_limits<double>::infinity()) {
    Tensor bound = internal::NumberLike("clip_by_value", x, low, loc);
    y = bound.ok() ? Maximum(y, bound, loc) : bound;
  }
  if (y.ok() && high < std::numeric_limits<double>::infinity()) {
    Tensor bound = internal::NumberLike("clip_by_value", x, high, loc);
    y = bound.ok() ? Minimum(y, bound, loc) : bound;
  }
  return y;
}

Tensor ClipByNorm(const Tensor& x, double norm, const std::vector<int64_t>& axes, SourceLocation loc) {
  Tensor failed;
  if (!Usable("clip_by_norm", {x}, loc, &failed)) return failed;
  GraphBuilder* graph = x.graph();
  std::vector<int64_t> normalized = axes;
  if (!CheckFloats("clip_by_norm", x, loc) || !internal::NormalizeAxes("clip_by_norm", x, &normalized, loc)) {
    return graph->Poisoned();
  }
  if (!(std::isfinite(norm) && norm > 0)) {
    return graph->FailAt("clip_by_norm", absl::StrCat("the norm must be a positive number, got ", norm), loc);
  }
  NameScope scope(graph, graph->UniqueName("clip_by_norm"));
  return Mul(x, Div(norm, Maximum(KeptNorm("clip_by_norm", x, normalized, loc), norm, loc), loc), loc);
}

Tensor Norm(const Tensor& x, const std::vector<int64_t>& axes, double ord, bool keep_dims, SourceLocation loc) {
  Tensor failed;
  if (!Usable("norm", {x}, loc, &failed)) return failed;
  GraphBuilder* graph = x.graph();
  std::vector<int64_t> normalized = axes;
  if (!CheckFloats("norm", x, loc) || !internal::NormalizeAxes("norm", x, &normalized, loc)) return graph->Poisoned();
  const bool largest = ord == std::numeric_limits<double>::infinity();
  if (ord != 1 && ord != 2 && !largest) {
    return graph->FailAt("norm", absl::StrCat("`ord` must be 1, 2 or infinity, got ", ord), loc);
  }
  NameScope scope(graph, graph->UniqueName("norm"));
  if (largest) return ReduceMax(Abs(x, loc), normalized, keep_dims, loc);
  if (ord == 1) return ReduceSum(Abs(x, loc), normalized, keep_dims, loc);
  Tensor kept = KeptNorm("norm", x, normalized, loc);
  return keep_dims ? kept : Dropped(kept, x, normalized, loc);
}

Tensor LogSumExp(const Tensor& x, const std::vector<int64_t>& axes, bool keep_dims, SourceLocation loc) {
  constexpr char kOp[] = "log_sum_exp";
  Tensor failed;
  if (!Usable(kOp, {x}, loc, &failed)) return failed;
  GraphBuilder* graph = x.graph();
  std::vector<int64_t> normalized = axes;
  if (!CheckFloats(kOp, x, loc) || !internal::NormalizeAxes(kOp, x, &normalized, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName(kOp));
  Tensor zero = internal::NumberLike(kOp, x, 0, loc), one = internal::NumberLike(kOp, x, 1, loc);
  Tensor least = internal::NumberLike(kOp, x, -std::numeric_limits<double>::infinity(), loc);
  // Subtracts the largest exponent, so that the largest becomes 0. An infinite one is not subtracted: inf - inf is NaN.
  Tensor top = ReduceMax(x, normalized, true, loc);
  top = StopGradient(Select(IsFinite(top, loc), top, zero, loc), loc);
  Tensor sum = ReduceSum(Exp(Sub(x, top, loc), loc), normalized, true, loc);
  Tensor none = Equal(sum, zero, loc);  // all elements are -inf
  Tensor kept = Select(none, least, Add(Log(Select(none, one, sum, loc), loc), top, loc), loc);
  return keep_dims ? kept : Dropped(kept, x, normalized, loc);
}

Tensor RandomNormal(GraphBuilder* graph, const Shape& shape, double mean, double stddev, SourceLocation loc) {
  if (graph == nullptr) return internal::WithoutBuilder("random_normal", loc);
  if (!CheckNormal("random_normal", graph, shape, mean, stddev, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName("random_normal"));
  // 1 - u is in (0, 1], so the logarithm is finite.
  Tensor radius = Sqrt(Mul(Log(Sub(1, RandomUniform(graph, shape, loc), loc), loc), -2, loc), loc);
  Tensor angle = Mul(RandomUniform(graph, shape, loc), 2 * std::numbers::pi, loc);
  return Add(Mul(Mul(radius, Cos(angle, loc), loc), stddev, loc), mean, loc);
}

Tensor TruncatedNormal(GraphBuilder* graph, const Shape& shape, double mean, double stddev, SourceLocation loc) {
  if (graph == nullptr) return internal::WithoutBuilder("truncated_normal", loc);
  if (!CheckNormal("truncated_normal", graph, shape, mean, stddev, loc)) return graph->Poisoned();
  NameScope scope(graph, graph->UniqueName("truncated_normal"));
  // The inverse of erf by Giles, "Approximating the erfinv function", GPU Computing Gems 2, 2010, table 5: single
  // precision, for w < 5; here w is at most 2.42.
  constexpr double kCoefficients[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                      -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  const double bound = std::erf(std::numbers::sqrt2);  // the distribution is cut at two standard deviations
  Tensor p = Add(Mul(RandomUniform(graph, shape, loc), 2 * bound, loc), -bound, loc);
  Tensor w = Sub(-2.5, Log(Mul(Sub(1, p, loc), Add(p, 1, loc), loc), loc), loc);
  Tensor q = Mul(w, kCoefficients[0], loc);
  for (double c : absl::MakeConstSpan(kCoefficients).subspan(1, 7)) q = Mul(Add(q, c, loc), w, loc);
  q = Mul(Mul(Add(q, kCoefficients[8], loc), p, loc), std::numbers::sqrt2, loc);
  q = Maximum(Minimum(q, 2, loc), -2, loc);  // rounding may have moved a number beyond the bounds
  return Add(Mul(q, stddev, loc), mean, loc);
}

}  // namespace tandem
