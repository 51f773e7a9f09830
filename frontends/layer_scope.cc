#include "frontends/layer_scope.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "frontends/check.h"

namespace tandem::layers {
namespace {

// Upper limit for numbers of units, window sizes and table rows, so that a product of two of them does not overflow.
constexpr int64_t kMaxSize = 1 << 30;

// Returns " at FILE:LINE", where the first tensor of a layer was made; empty if it has none.
std::string PlaceOf(const GraphBuilder& graph, absl::string_view layer) {
  const std::string scope = absl::StrCat(layer, "/"), inner = absl::StrCat("/", scope);
  for (const std::string& name : graph.names()) {
    if (!absl::StartsWith(name, scope) && !absl::StrContains(name, inner)) continue;
    return absl::StrCat(" at ", graph.Find(name).origin());
  }
  return "";
}

}  // namespace

LayerScope::LayerScope(const Tensor& x, absl::string_view layer, absl::string_view base, const std::string& name,
                       int rank, SourceLocation loc, bool takes_indices)
    : layer_(layer), loc_(loc), dtype_(x.dtype()), graph_(frontends::CommonGraph(layer, {{"x", x}}, loc, &failed_)) {
  if (graph_ == nullptr) return;
  if (takes_indices) {
    if (dtype_ != DType::kInt32 && dtype_ != DType::kInt64) {
      Fail(absl::StrCat("needs int32 or int64 indices, got ", frontends::TypeString(x),
                        "; convert them with Cast(x, DType::kInt32)"));
      return;
    }
    dtype_ = DType::kFloat32;
  } else if (!frontends::IsFloat(dtype_)) {
    Fail(absl::StrCat("needs a floating-point input, got ", frontends::TypeString(x),
                      "; convert it with Cast(x, DType::kFloat32)"));
    return;
  }
  if (rank != 0 && x.rank() != rank) {
    Fail(absl::StrCat("needs an input of ", rank == 4 ? "shape [b, height, width, channels]" : "shape [b, features]",
                      ", got ", ShapeString(x.shape()),
                      rank == 2 && x.rank() > 2    ? "; put a layers::Flatten before it"
                      : rank == 4 && x.rank() == 2 ? "; give the vectors the shape of their image with Reshape"
                                                   : ""));
    return;
  }
  if (x.rank() == 0) {
    Fail("needs a batch of inputs, got a scalar");
    return;
  }
  owner_ = WeightOwner::Of(graph_);
  if (owner_ != nullptr) {
    nested_ = owner_->NestedName(base);
    if (!nested_.empty()) scope_.emplace(graph_, graph_->UniqueName(nested_));
    return;
  }
  std::string unique = graph_->UniqueName(name.empty() ? base : absl::string_view(name));
  if (!name.empty() && unique != name) {
    Fail(absl::StrCat("there is a layer named \"", name, "\" already", PlaceOf(*graph_, name),
                      ", and each call makes new weights; choose another name, or, to use the same weights twice, make "
                      "a layer object and call it twice (docs/guide/own_parts.md, \"Weights that are used twice\")"));
    return;
  }
  scope_.emplace(graph_, unique);
}

Tensor LayerScope::Fail(absl::string_view message) {
  if (graph_ != nullptr) failed_ = graph_->FailAt(layer_, message, loc_);
  graph_ = nullptr;
  return failed_;
}

bool LayerScope::CheckPositive(absl::string_view option, int64_t value) {
  if (ok() && value <= 0) Fail(absl::StrCat("`", option, "` must be at least 1, got ", value));
  if (ok() && value > kMaxSize) Fail(absl::StrCat("`", option, "` must be at most ", kMaxSize, ", got ", value));
  return ok();
}

Tensor LayerScope::Weight(absl::string_view name, Shape shape, const initializers::InitializerFn& initializer,
                          bool trainable, const Regularizer& regularizer) {
  if (!ok()) return failed_;
  const std::string option = absl::StrCat("`", absl::StripSuffix(name, "_kernel"), "_initializer`");
  if (!initializer) return Fail(absl::StrCat(option, " is empty"));
  if (absl::Status status = initializer.Check(shape); !status.ok()) {
    return Fail(absl::StrCat(option, ": ", status.message()));
  }
  if (owner_ != nullptr) {
    Tensor weight = owner_->Weight(graph_, nested_,
                                   {.name = std::string(name),
                                    .dtype = dtype_,
                                    .shape = std::move(shape),
                                    .initializer = initializer,
                                    .trainable = trainable,
                                    .regularizer = regularizer,
                                    .loc = loc_});
    if (weight.ok()) return weight;
    graph_ = nullptr;
    return failed_ = weight;
  }
  VariableSpec spec;
  spec.name = std::string(name);
  spec.dtype = dtype_;
  spec.initializer = initializer(shape);
  spec.first_value = initializer.first_value();
  spec.shape = std::move(shape);
  spec.trainable = trainable;
  Tensor variable = graph_->Variable(std::move(spec), loc_);
  AddRegularization(variable, regularizer, loc_);
  return variable;
}

}  // namespace tandem::layers
