// Layers with several inputs.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/network.h"
#include "frontends/keras/option_layer.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace layers {

// Options of layers such as Add and Maximum, which have no keys of their own in a model file.
struct MergeFields {
  std::string name;
  Shape input_shape;
};

template <typename V>
void Fields(V&, MergeFields&) {}

template <typename V>
void Fields(V& v, ConcatenateOptions& o) {
  v.Field("axis", o.axis);
}

template <typename V>
void Fields(V& v, DotOptions& o) {
  v.Axes("axes", o.axes);
  v.Field("normalize", o.normalize);
}

}  // namespace layers

namespace {

// Expands all inputs to the same rank, as Keras does: inputs with fewer dimensions get dimensions of size 1 after the
// batch.
std::vector<Tensor> SameRank(CallContext& c) {
  int rank = 0;
  for (const Tensor& x : c.inputs()) rank = std::max(rank, x.rank());
  std::vector<Tensor> same;
  for (Tensor x : c.inputs()) {
    while (x.ok() && x.rank() < rank) x = ExpandDims(x, 1, c.loc());
    same.push_back(x);
  }
  return same;
}

using BinaryFn = Tensor (*)(const Tensor&, const Tensor&, SourceLocation);

template <BinaryFn combine>
Tensor ComputeMerge(const layers::MergeFields&, CallContext& c) {
  const std::vector<Tensor> xs = SameRank(c);
  Tensor result = xs[0];
  for (size_t i = 1; i < xs.size(); ++i) result = combine(result, xs[i], c.loc());
  return result;
}

Tensor ComputeAverage(const layers::MergeFields& o, CallContext& c) {
  return Div(ComputeMerge<tandem::Add>(o, c), static_cast<double>(c.inputs().size()), c.loc());
}

Tensor ComputeConcatenate(const layers::ConcatenateOptions& o, CallContext& c) {
  const int64_t axis = o.axis < 0 ? o.axis + c.x().rank() : o.axis;
  if (axis < 1 || axis >= c.x().rank()) {
    return c.graph()->FailAt(
        "Concatenate",
        absl::StrCat("`axis` ", o.axis, " is the batch's or none of the input ", ShapeString(c.x().shape())), c.loc());
  }
  return Concat(c.inputs(), axis, c.loc());
}

// Divides each vector along `axis` by its Euclidean length.
Tensor Normalized(const Tensor& x, int64_t axis, SourceLocation loc) {
  return Mul(x, Rsqrt(Maximum(ReduceSum(Square(x, loc), {axis}, true, loc), 1e-12, loc), loc), loc);
}

Tensor ComputeDot(const layers::DotOptions& o, CallContext& c) {
  Tensor x = c.inputs()[0], y = c.inputs()[1];
  const auto fail = [&](absl::string_view problem) {
    return c.graph()->FailAt("Dot",
                             absl::StrCat(problem, ": inputs ", ShapeString(x.shape()), " and ", ShapeString(y.shape()),
                                          ", axes ", ShapeString(o.axes)),
                             c.loc());
  };
  if (x.rank() < 2 || x.rank() > 3 || y.rank() < 2 || y.rank() > 3) {
    return fail("needs inputs of two or three dimensions");
  }
  if (o.axes.empty() || o.axes.size() > 2) return fail("`axes` must be one or two");
  int64_t ax = o.axes.front(), ay = o.axes.back();
  if (ax < 0) ax += x.rank();
  if (ay < 0) ay += y.rank();
  if (ax < 1 || ay < 1 || ax >= x.rank() || ay >= y.rank()) return fail("an axis is the batch's or not there");
  if (x.shape()[ax] != y.shape()[ay]) return fail("the sizes along the axes differ");
  if (o.normalize) {
    x = Normalized(x, ax, c.loc());
    y = Normalized(y, ay, c.loc());
  }
  const bool x_vector = x.rank() == 2, y_vector = y.rank() == 2;
  if (x_vector) x = ExpandDims(x, 1, c.loc());                         // shape: [b, 1, k]
  if (y_vector) y = ExpandDims(y, 1, c.loc());                         // shape: [b, 1, k]
  if (!x_vector && ax == 1) x = Transpose(x, {0, 2, 1}, c.loc());      // shape: [b, n, k]
  if (!y_vector && ay == 1) y = Transpose(y, {0, 2, 1}, c.loc());      // shape: [b, m, k]
  Tensor product = BatchMatMul(x, y, {.transpose_b = true}, c.loc());  // shape: [b, n, m]
  if (!product.ok()) return product;
  const Shape shape = product.shape();
  if (x_vector && y_vector) return tandem::Reshape(product, {shape[0], 1}, c.loc());
  if (x_vector) return tandem::Reshape(product, {shape[0], shape[2]}, c.loc());
  if (y_vector) return tandem::Reshape(product, {shape[0], shape[1]}, c.loc());
  return product;
}

constexpr LayerKind<layers::MergeFields> kAdd{"Add", ComputeMerge<tandem::Add>, 2, kAnyNumber};
constexpr LayerKind<layers::MergeFields> kSubtract{"Subtract", ComputeMerge<tandem::Sub>, 2, 2};
constexpr LayerKind<layers::MergeFields> kMultiply{"Multiply", ComputeMerge<tandem::Mul>, 2, kAnyNumber};
constexpr LayerKind<layers::MergeFields> kAverage{"Average", ComputeAverage, 2, kAnyNumber};
constexpr LayerKind<layers::MergeFields> kMaximum{"Maximum", ComputeMerge<tandem::Maximum>, 2, kAnyNumber};
constexpr LayerKind<layers::MergeFields> kMinimum{"Minimum", ComputeMerge<tandem::Minimum>, 2, kAnyNumber};
constexpr LayerKind<layers::ConcatenateOptions> kConcatenate{"Concatenate", ComputeConcatenate, 2, kAnyNumber};
constexpr LayerKind<layers::DotOptions> kDot{"Dot", ComputeDot, 2, 2};

layers::MergeFields MergeOf(const layers::NameOptions& options) { return {options.name, options.input_shape}; }

}  // namespace

std::vector<LayerClass> MergeLayerClasses() {
  return {ClassOf(kAdd),     ClassOf(kSubtract), ClassOf(kMultiply),    ClassOf(kAverage),
          ClassOf(kMaximum), ClassOf(kMinimum),  ClassOf(kConcatenate), ClassOf(kDot)};
}

namespace layers {

Add::Add(const NameOptions& options, SourceLocation loc) : Layer(MakeLayer(kAdd, MergeOf(options), loc)) {}
Subtract::Subtract(const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kSubtract, MergeOf(options), loc)) {}
Multiply::Multiply(const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kMultiply, MergeOf(options), loc)) {}
Average::Average(const NameOptions& options, SourceLocation loc) : Layer(MakeLayer(kAverage, MergeOf(options), loc)) {}
Maximum::Maximum(const NameOptions& options, SourceLocation loc) : Layer(MakeLayer(kMaximum, MergeOf(options), loc)) {}
Minimum::Minimum(const NameOptions& options, SourceLocation loc) : Layer(MakeLayer(kMinimum, MergeOf(options), loc)) {}
Concatenate::Concatenate(const ConcatenateOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kConcatenate, options, loc)) {}
Dot::Dot(const DotOptions& options, SourceLocation loc) : Layer(MakeLayer(kDot, options, loc)) {}

}  // namespace layers

namespace {

// Calls the layer for an operator such as x + y. An operator cannot have a default argument for its source line, so the
// line of the first operand is used.
template <typename Merge>
KerasTensor MergedBy(const KerasTensor& x, const KerasTensor& y) {
  const SourceLocation loc = x.call() != nullptr ? x.call()->loc : SourceLocation{};
  return Merge({}, loc)({x, y}, loc);
}

}  // namespace

KerasTensor operator+(const KerasTensor& x, const KerasTensor& y) { return MergedBy<layers::Add>(x, y); }
KerasTensor operator-(const KerasTensor& x, const KerasTensor& y) { return MergedBy<layers::Subtract>(x, y); }
KerasTensor operator*(const KerasTensor& x, const KerasTensor& y) { return MergedBy<layers::Multiply>(x, y); }

}  // namespace tandem::keras
