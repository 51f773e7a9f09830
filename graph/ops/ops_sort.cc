// Ops along an axis, made of other ops: rows by index, running sums, sorting.
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::NumberLike;
using internal::Usable;

namespace {

using CombineFn = Tensor (*)(const Tensor&, const Tensor&, SourceLocation);

// Returns positions 0 to n - 1 along `axis`, in a tensor of this rank whose other sizes are 1.
Tensor PositionsAlong(GraphBuilder* graph, int64_t n, int64_t axis, int64_t rank, DType dtype, SourceLocation loc) {
  Shape shape(rank - axis, 1);
  shape[0] = n;
  return Reshape(Iota(graph, {n}, 0, dtype, loc), shape, loc);
}

// Shifts x by `steps` places along `axis`, towards the end, or with `back` towards the beginning; the places that
// become free hold `fill`.
Tensor Moved(const Tensor& x, int64_t size, int64_t axis, int64_t steps, bool back, double fill, SourceLocation loc) {
  if (!x.ok()) return x;
  std::vector<int64_t> begin(x.rank(), 0), sizes = x.shape(), low(x.rank(), 0), high(x.rank(), 0);
  begin[axis] = back ? steps : 0;
  sizes[axis] = size - steps;
  (back ? high : low)[axis] = steps;
  return Pad(Slice(x, begin, sizes, loc), low, high, fill, loc);
}

// Returns x as a sum (of one element each), so that x and its gradient are computed only once: kernels store sums, but
// compute other values again at every position where they read them. The work of a scan would double with every step.
Tensor Kept(const Tensor& x, SourceLocation loc) {
  if (!x.ok()) return x;
  Shape wide = x.shape();
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < x.rank(); ++i) dims.push_back(i);
  wide.push_back(1);
  return ReduceSum(internal::EmitOp("broadcast", {x}, {{"shape", wide}, {"dims", dims}}, loc), {-1}, false, loc);
}

// Combines each element with those before it: after each turn, every element has combined twice as many.
Tensor Scan(const char* op, CombineFn combine, double identity, const Tensor& x, int64_t axis, bool exclusive,
            bool reverse, SourceLocation loc) {
  Tensor failed;
  if (!Usable(op, {x}, loc, &failed)) return failed;
  axis = internal::AxisBesidesBatch(op, x, axis, loc);
  if (axis < 0 || !internal::CheckNumbers(op, x, loc)) return x.graph()->Poisoned();
  const int64_t size = x.shape()[axis];
  if (size == 1) return exclusive ? FullLike(x, identity, loc) : x;
  NameScope scope(x.graph(), x.graph()->UniqueName(op));
  Tensor y = exclusive ? Moved(x, size, axis, 1, reverse, identity, loc) : x;
  for (int64_t steps = 1; steps < size; steps *= 2) {
    y = Kept(combine(y, Moved(y, size, axis, steps, reverse, identity, loc), loc), loc);
  }
  return y;
}

// Returns for each element its place (int32) in the sorted order along `axis`: the number of elements before it.
Tensor RankOf(const Tensor& x, int64_t axis, bool descending, SourceLocation loc) {
  GraphBuilder* graph = x.graph();
  const int64_t n = x.shape()[axis], rank = x.rank() + 1;
  // Both tensors have n x n comparisons: element i along `axis`, the elements that it is compared with along the next
  // axis.
  Tensor own = ExpandDims(x, axis + 1, loc), other = ExpandDims(x, axis, loc);
  Tensor first = descending ? Greater(other, own, loc) : Less(other, own, loc);
  Tensor same = Equal(other, own, loc);
  if (internal::IsFloat(x.dtype())) {  // NaN is sorted behind all other numbers
    Tensor own_nan = NotEqual(own, own, loc), other_nan = NotEqual(other, other, loc);
    first = Or(first, And(own_nan, Not(other_nan, loc), loc), loc);
    same = Or(same, And(own_nan, other_nan, loc), loc);
  }
  Tensor earlier = Less(PositionsAlong(graph, n, axis + 1, rank, DType::kInt32, loc),
                        PositionsAlong(graph, n, axis, rank, DType::kInt32, loc), loc);
  Tensor before = Or(first, And(same, earlier, loc), loc);
  return ReduceSum(Cast(before, DType::kInt32, loc), {axis + 1}, false, loc);
}

// Returns the first k of the sorted order: the element with rank r goes to place r.
TopKResult FirstOf(const Tensor& operand, int64_t k, int64_t axis, bool descending, SourceLocation loc) {
  GraphBuilder* graph = operand.graph();
  const int64_t n = operand.shape()[axis], rank = operand.rank() + 1;
  const Tensor x = Kept(operand, loc);
  if (!x.ok()) return {x, x};
  Tensor place = ExpandDims(RankOf(x, axis, descending, loc), axis, loc);
  Tensor here = Equal(place, PositionsAlong(graph, k, axis, rank, DType::kInt32, loc), loc);
  auto taken = [&](const Tensor& values) {
    if (!values.ok()) return values;
    return ReduceSum(Select(here, values, NumberLike("sort", values, 0, loc), loc), {axis + 1}, false, loc);
  };
  return {taken(ExpandDims(x, axis, loc)), taken(PositionsAlong(graph, n, axis + 1, rank, DType::kInt64, loc))};
}

// Resolves `axis` of the operand of a sort. False after an error; `failed` is then the op's result.
bool CheckSort(const char* op, const Tensor& x, int64_t* axis, SourceLocation loc, Tensor* failed) {
  if (!Usable(op, {x}, loc, failed)) return false;
  *failed = x.graph()->Poisoned();
  *axis = internal::AxisBesidesBatch(op, x, *axis, loc);
  return *axis >= 0 && internal::CheckNumbers(op, x, loc);
}

}  // namespace

Tensor GatherRows(const Tensor& params, const Tensor& indices, SourceLocation loc) {
  constexpr char kOp[] = "gather_rows";
  Tensor failed;
  if (!Usable(kOp, {params, indices}, loc, &failed)) return failed;
  GraphBuilder* graph = params.graph();
  const Shape from = params.shape(), by = indices.shape();
  std::string problem;
  if (indices.dtype() != DType::kInt32 && indices.dtype() != DType::kInt64) {
    problem = absl::StrCat("indices must be int32 or int64, got ", Name(indices.dtype()), " ", ShapeString(by),
                           "; convert them with Cast(x, DType::kInt32)");
  } else if (from.size() < 2 || by.empty() || from[0] != by[0]) {
    problem = absl::StrCat("params ", ShapeString(from), " and indices ", ShapeString(by),
                           " need one dimension 0, the examples', and params one more, their rows; of rows that all "
                           "examples share take Gather");
  } else if (params.dtype() == DType::kUInt8) {
    problem = "params cannot be uint8; Cast them to int32";
  }
  if (!problem.empty()) return graph->FailAt(kOp, problem, loc);
  if (params.dtype() == DType::kBool) {
    return NotEqual(GatherRows(Cast(params, DType::kInt32, loc), indices, loc), 0, loc);
  }

  NameScope scope(graph, graph->UniqueName(kOp));
  // `wide` is the axis of the params' rows in [b, k..., rows, ...]
  const int64_t rows = from[1], wide = static_cast<int64_t>(by.size());
  const size_t rest = from.size() - 2;
  Shape params_shape = {from[0]}, index_shape = by, inside_shape = by;
  params_shape.insert(params_shape.end(), by.size() - 1, 1);
  params_shape.insert(params_shape.end(), from.begin() + 1, from.end());
  index_shape.insert(index_shape.end(), rest + 1, 1);
  inside_shape.insert(inside_shape.end(), rest, 1);
  const int64_t rank = static_cast<int64_t>(params_shape.size());

  Tensor nearest = Minimum(Maximum(indices, 0, loc), static_cast<double>(rows - 1), loc);
  Tensor here =
      Equal(Reshape(nearest, index_shape, loc), PositionsAlong(graph, rows, wide, rank, indices.dtype(), loc), loc);
  Tensor taken = Select(here, Reshape(params, params_shape, loc), NumberLike(kOp, params, 0, loc), loc);
  Tensor result = ReduceSum(taken, {wide}, false, loc);
  if (!internal::IsFloat(params.dtype())) return result;
  Tensor inside = Equal(Reshape(nearest, inside_shape, loc), Reshape(indices, inside_shape, loc), loc);
  return Select(inside, result, NumberLike(kOp, params, std::numeric_limits<double>::quiet_NaN(), loc), loc);
}

Tensor CumSum(const Tensor& x, int64_t axis, bool exclusive, bool reverse, SourceLocation loc) {
  return Scan("cum_sum", Add, 0, x, axis, exclusive, reverse, loc);
}
Tensor CumProd(const Tensor& x, int64_t axis, bool exclusive, bool reverse, SourceLocation loc) {
  return Scan("cum_prod", Mul, 1, x, axis, exclusive, reverse, loc);
}

Tensor Sort(const Tensor& x, int64_t axis, bool descending, SourceLocation loc) {
  Tensor failed;
  if (!CheckSort("sort", x, &axis, loc, &failed)) return failed;
  NameScope scope(x.graph(), x.graph()->UniqueName("sort"));
  return FirstOf(x, x.shape()[axis], axis, descending, loc).values;
}

Tensor ArgSort(const Tensor& x, int64_t axis, bool descending, SourceLocation loc) {
  Tensor failed;
  if (!CheckSort("arg_sort", x, &axis, loc, &failed)) return failed;
  NameScope scope(x.graph(), x.graph()->UniqueName("arg_sort"));
  return FirstOf(x, x.shape()[axis], axis, descending, loc).indices;
}

TopKResult TopK(const Tensor& x, int64_t k, int64_t axis, SourceLocation loc) {
  Tensor failed;
  if (!CheckSort("top_k", x, &axis, loc, &failed)) return {failed, failed};
  const int64_t size = x.shape()[axis];
  if (k < 1 || k > size) {
    x.graph()->FailAt("top_k",
                      absl::StrCat("`k` must be 1 to ", size, ", the size of axis ", axis, " of ",
                                   ShapeString(x.shape()), ", got ", k),
                      loc);
    return {failed, failed};
  }
  NameScope scope(x.graph(), x.graph()->UniqueName("top_k"));
  return FirstOf(x, k, axis, true, loc);
}

}  // namespace tandem
