// Map, which applies a function to elements, and Prefetch, which makes elements ahead: the stages that request threads.
// Both pass on the tokens (the names of elements) of the stage before.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "data/cache_settings.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// The number of elements made ahead with which automatic prefetching begins.
constexpr int64_t kInitialWindow = 2;

// Applies a function to the elements of `child`.
class MapNode : public ElementNode {
 public:
  MapNode(NodePtr child, NodeInfo info, Dataset::MapFn fn, const MapOptions& options, const char* op, const char* name,
          SourceLocation location)
      : ElementNode(std::move(child), std::move(info), options.num_parallel_calls),
        fn_(std::move(fn)),
        changes_rows_(options.changes_rows),
        op_(op),
        name_(name),
        location_(location) {}

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    Element input;
    TD_RETURN_IF_ERROR(child_->MaterializeNamed(token, payload, &input));
    absl::StatusOr<Element> result = CallUserCode([&] { return fn_(input); });
    absl::Status status = result.status();
    if (status.ok()) status = OrderByName(*names(), child_->names(), &*result);
    if (!status.ok()) return Annotate(status, absl::StrCat(op_, ", ", Describe(token)), location_);
    if (status = CheckElement(info().spec, *result); !status.ok()) {
      return Annotate(absl::InvalidArgumentError(absl::StrCat(
                          status.message(), TypesAgree(*result)
                                                ? "; when sizes vary, describe the result in MapOptions.spec with -1"
                                                : "; a result without names is taken in the order of the names: name "
                                                  "its components with Element::Set")),
                      absl::StrCat(op_, ", ", Describe(token)), location_);
    }
    *out = *std::move(result);
    return absl::OkStatus();
  }

  int64_t Rows(const int64_t* token) const override {
    const Shape& first = info().spec[0].shape;
    return changes_rows_ || first.empty() || first[0] != kBatch ? -1 : child_->Rows(token);
  }

  std::string Signature(bool batch_sizes) const override {
    return absl::StrCat(child_->Signature(batch_sizes), " | ", name_, "(", SpecString(info().spec), ")");
  }

 private:
  // True if the components have the types of the spec. They do not if the function returns them in another order, for
  // example.
  bool TypesAgree(const Element& result) const {
    const std::vector<ComponentSpec>& spec = info().spec;
    for (size_t i = 0; i < result.components.size() && i < spec.size(); ++i) {
      if (result.components[i].dtype() != spec[i].dtype) return false;
    }
    return true;
  }

  const Dataset::MapFn fn_;
  const bool changes_rows_;
  const char *const op_, *const name_;
  const SourceLocation location_;
};

class PrefetchNode : public OrderNode {
 public:
  PrefetchNode(NodePtr child, NodeInfo info, int64_t buffer_size)
      : OrderNode(std::move(child), std::move(info)), buffer_size_(buffer_size) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override { return child_->MakeTokens(); }
  bool makes_order() const override { return false; }
  Parallelism parallelism() const override {
    Parallelism p = child_->parallelism();
    p.threads = std::max(p.threads, 1);
    p.fixed_threads = std::max(p.fixed_threads, 1);
    p.adapt_window |= buffer_size_ == 0;
    p.window = std::max(p.window, buffer_size_ == 0 ? kInitialWindow : buffer_size_);
    return p;
  }
  // The number of prefetched elements is no part of the signature, because a resumed run may prefetch differently.
  std::string Signature(bool batch_sizes) const override { return child_->Signature(batch_sizes); }

 private:
  const int64_t buffer_size_;
};

// Describes the results of `fn` by calling it on the first element of `child`.
absl::StatusOr<std::vector<ComponentSpec>> InferSpec(const Node& child, const Dataset::MapFn& fn,
                                                     std::vector<std::string> names) {
  std::vector<int64_t> token;
  PayloadPtr payload;
  TD_ASSIGN_OR_RETURN(const bool found, FirstToken(child, &token, &payload));
  if (!found) {
    return absl::InvalidArgumentError(
        "the dataset is empty, so the function's result is unknown: describe it in MapOptions.spec");
  }
  Element input;
  TD_RETURN_IF_ERROR(child.MaterializeNamed(token.data(), payload.get(), &input));
  absl::StatusOr<Element> called = CallUserCode([&] { return fn(input); });
  TD_RETURN_IF_ERROR(tandem::Annotate(called.status(), absl::StrCat(child.Describe(token.data()), ": ")));
  Element& result = *called;
  if (result.components.empty()) return absl::InvalidArgumentError("the function returns no component");
  if (names.empty() && result.names != nullptr && result.names != child.names()) names = *result.names;
  if (!names.empty()) TD_RETURN_IF_ERROR(OrderByName(names, child.names(), &result));
  if (!names.empty() && names.size() != result.components.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the function returns ", result.components.size(),
                                                   " components and MapOptions.names has ", names.size()));
  }
  if (names.empty() && child.info().spec.size() != result.components.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the function returns ", result.components.size(),
                                                   " components and takes ", child.info().spec.size(),
                                                   ": name the results with Element::Set or in MapOptions.names"));
  }
  std::vector<ComponentSpec> spec;
  for (size_t i = 0; i < result.components.size(); ++i) {
    const HostTensor& t = result.components[i];
    if (!t.status().ok()) return tandem::Annotate(t.status(), absl::StrCat("component ", i, " of the result: "));
    if (t.empty()) return absl::InvalidArgumentError(absl::StrCat("component ", i, " of the result is empty"));
    ComponentSpec& c =
        spec.emplace_back(ComponentSpec{names.empty() ? child.info().spec[i].name : names[i], t.dtype(), t.shape()});
    // A component of the result with as many rows as the batch is assumed to have one row per example.
    if (child.info().batch_size > 0 && !c.shape.empty() && c.shape[0] == input.rows()) c.shape[0] = kBatch;
  }
  return spec;
}

}  // namespace

absl::StatusOr<NodePtr> MakeMap(NodePtr child, Dataset::MapFn fn, MapOptions options, const char* op, const char* name,
                                SourceLocation location, absl::string_view cache_settings) {
  if (!fn) return absl::InvalidArgumentError("the function is null");
  TD_RETURN_IF_ERROR(CheckParallelCalls(options.num_parallel_calls));
  if (!options.names.empty() && !options.spec.empty()) {
    return absl::InvalidArgumentError("MapOptions.names and MapOptions.spec are both given; spec has the names");
  }
  NodeInfo info = child->info();
  if (!cache_settings.empty()) AddCacheSettings(cache_settings, &info);
  if (options.spec.empty()) {
    TD_ASSIGN_OR_RETURN(info.spec, InferSpec(*child, fn, options.names));
  } else {
    info.spec = options.spec;
  }
  TD_RETURN_IF_ERROR(CheckMapSpec(info.spec));
  return NodePtr(
      std::make_shared<MapNode>(std::move(child), std::move(info), std::move(fn), options, op, name, location));
}

absl::Status CheckMapSpec(const std::vector<ComponentSpec>& spec) {
  for (size_t i = 0; i < spec.size(); ++i) {
    if (spec[i].dtype == DType::kInvalid || spec[i].dtype == DType::kBFloat16) {
      return absl::InvalidArgumentError(absl::StrCat("component '", spec[i].name, "' of MapOptions.spec is ",
                                                     Name(spec[i].dtype), ", which no tensor has"));
    }
    for (size_t j = 0; j < i; ++j) {
      if (spec[j].name != spec[i].name) continue;
      return absl::InvalidArgumentError(absl::StrCat("two components have the name '", spec[i].name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<NodePtr> MakePrefetch(NodePtr child, int64_t buffer_size) {
  if (buffer_size < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the buffer size must be >= 0 (0 = automatic), got ", buffer_size));
  }
  NodeInfo info = child->info();
  return NodePtr(std::make_shared<PrefetchNode>(std::move(child), std::move(info), buffer_size));
}

}  // namespace tandem::data_internal
