// Layers that only move elements.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/option_layer.h"
#include "frontends/layers.h"
#include "graph/ops.h"

namespace tandem::keras {
namespace layers {

struct ReshapeFields {
  std::vector<int64_t> target_shape;
  std::string name;
  Shape input_shape;
};
struct PermuteFields {
  std::vector<int64_t> dims;
  std::string name;
  Shape input_shape;
};
struct RepeatFields {
  int64_t n = 0;
  std::string name;
  Shape input_shape;
};
// Options of Flatten. They differ from those of Identity because Flatten has one more key in files.
struct FlattenFields {
  std::string name;
  Shape input_shape;
};

template <typename V>
void Fields(V&, NameOptions&) {}
template <typename V>
void Fields(V& v, FlattenFields&) {
  v.Fixed("data_format", "channels_last");
}
template <typename V>
void Fields(V& v, ReshapeFields& o) {
  v.Field("target_shape", o.target_shape);
}
template <typename V>
void Fields(V& v, PermuteFields& o) {
  v.Field("dims", o.dims);
}
template <typename V>
void Fields(V& v, RepeatFields& o) {
  v.Field("n", o.n);
}

}  // namespace layers

namespace {

Tensor ComputeFlatten(const layers::FlattenFields&, CallContext& c) { return tandem::layers::Flatten(c.x(), c.loc()); }

Tensor ComputeIdentity(const layers::NameOptions&, CallContext& c) { return c.x(); }

Tensor ComputeReshape(const layers::ReshapeFields& o, CallContext& c) {
  const Shape input = c.x().shape();
  const int64_t elements =
      std::accumulate(input.begin() + 1, input.end(), int64_t{1}, [](int64_t a, int64_t b) { return a * b; });
  Shape shape = {input[0]};
  int64_t known = 1, open = 0;
  for (int64_t size : o.target_shape) {
    shape.push_back(size);
    if (size == -1) {
      ++open;
    } else {
      known = size < 1 || known > elements ? elements + 1 : known * size;
    }
  }
  const bool fits = open == 1 ? elements % known == 0 : known == elements;
  if (open > 1 || !fits) {
    return c.graph()->FailAt(
        "Reshape",
        absl::StrCat("`target_shape` ", ShapeString(o.target_shape), " does not fit the ", elements,
                     " elements of each example of ", ShapeString(input), open > 1 ? "; only one size may be -1" : ""),
        c.loc());
  }
  for (int64_t& size : shape) {
    if (&size != &shape[0] && size == -1) size = elements / known;
  }
  return tandem::Reshape(c.x(), shape, c.loc());
}

Tensor ComputePermute(const layers::PermuteFields& o, CallContext& c) {
  std::vector<int64_t> sorted = o.dims, expected(o.dims.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 1);
  if (sorted != expected || static_cast<int>(o.dims.size()) != c.x().rank() - 1) {
    return c.graph()->FailAt("Permute",
                             absl::StrCat("`dims` ", ShapeString(o.dims), " must have each of 1 to ", c.x().rank() - 1,
                                          " once, for the input ", ShapeString(c.x().shape())),
                             c.loc());
  }
  std::vector<int64_t> permutation = {0};
  permutation.insert(permutation.end(), o.dims.begin(), o.dims.end());
  return Transpose(c.x(), permutation, c.loc());
}

Tensor ComputeRepeat(const layers::RepeatFields& o, CallContext& c) {
  if (c.x().rank() != 2 || o.n < 1) {
    return c.graph()->FailAt("RepeatVector",
                             absl::StrCat("needs an input of shape [b, features] and a number of at least 1, got ",
                                          ShapeString(c.x().shape()), " and ", o.n),
                             c.loc());
  }
  return Repeat(ExpandDims(c.x(), 1, c.loc()), o.n, 1, c.loc());
}

constexpr LayerKind<layers::FlattenFields> kFlatten{"Flatten", ComputeFlatten};
constexpr LayerKind<layers::NameOptions> kIdentity{"Identity", ComputeIdentity};
constexpr LayerKind<layers::ReshapeFields> kReshape{"Reshape", ComputeReshape};
constexpr LayerKind<layers::PermuteFields> kPermute{"Permute", ComputePermute};
constexpr LayerKind<layers::RepeatFields> kRepeat{"RepeatVector", ComputeRepeat};

}  // namespace

std::vector<LayerClass> ShapeLayerClasses() {
  return {ClassOf(kFlatten), ClassOf(kIdentity), ClassOf(kReshape), ClassOf(kPermute), ClassOf(kRepeat)};
}

namespace layers {

Flatten::Flatten(const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kFlatten, FlattenFields{options.name, options.input_shape}, loc)) {}
Identity::Identity(const NameOptions& options, SourceLocation loc) : Layer(MakeLayer(kIdentity, options, loc)) {}
Reshape::Reshape(const Shape& target_shape, const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kReshape, ReshapeFields{target_shape, options.name, options.input_shape}, loc)) {}
Permute::Permute(const std::vector<int64_t>& dims, const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kPermute, PermuteFields{dims, options.name, options.input_shape}, loc)) {}
RepeatVector::RepeatVector(int64_t n, const NameOptions& options, SourceLocation loc)
    : Layer(MakeLayer(kRepeat, RepeatFields{n, options.name, options.input_shape}, loc)) {}

}  // namespace layers
}  // namespace tandem::keras
