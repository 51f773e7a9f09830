// MapInto: applies a function that writes its results directly into the memory of the batch that a later Batch makes.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "data/component_buffer.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class MapIntoNode : public ElementNode {
 public:
  MapIntoNode(NodePtr child, NodeInfo info, Dataset::MapIntoFn fn, int num_parallel_calls, SourceLocation location)
      : ElementNode(std::move(child), std::move(info), num_parallel_calls), fn_(std::move(fn)), location_(location) {}

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    TD_RETURN_IF_ERROR(Allocate({}, out));
    std::vector<ComponentBuffer> buffers;
    for (HostTensor& tensor : out->components) buffers.push_back(ComponentBuffer::Of(tensor));
    return Fill(token, payload, buffers);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count, SourceLocation,
                               Element* out) const override {
    TD_RETURN_IF_ERROR(Allocate({count}, out));
    std::vector<ComponentBuffer> row;
    for (size_t c = 0; c < out->components.size(); ++c) {
      row.push_back({out->components[c].dtype(), info().spec[c].shape, out->components[c].raw()});
    }
    for (int64_t i = 0; i < count; ++i) {
      TD_RETURN_IF_ERROR(Fill(tokens + i * token_width(), payloads == nullptr ? nullptr : payloads[i].get(), row));
      for (ComponentBuffer& buffer : row) buffer.memory = static_cast<uint8_t*>(buffer.memory) + buffer.byte_size();
    }
    return absl::OkStatus();
  }

  // The signature is that of Map, because a Map with the same results may replace this stage.
  std::string Signature(bool batch_sizes) const override {
    return absl::StrCat(child_->Signature(batch_sizes), " | map(", SpecString(info().spec), ")");
  }

 private:
  // Allocates a tensor for each component; `rows` are the leading dimensions before the component's own shape.
  absl::Status Allocate(const Shape& rows, Element* out) const {
    out->components.clear();
    for (const ComponentSpec& component : info().spec) {
      Shape shape = rows;
      shape.insert(shape.end(), component.shape.begin(), component.shape.end());
      out->components.emplace_back(component.dtype, std::move(shape), location_);
      TD_RETURN_IF_ERROR(out->components.back().status());
    }
    return absl::OkStatus();
  }

  absl::Status Fill(const int64_t* token, const Payload* payload, absl::Span<const ComponentBuffer> out) const {
    Element input;
    TD_RETURN_IF_ERROR(child_->MaterializeNamed(token, payload, &input));
    const absl::Status status = CallUserCode([&] { return fn_(input, out); });
    return status.ok() ? status : Annotate(status, absl::StrCat("MapInto, ", Describe(token)), location_);
  }

  const Dataset::MapIntoFn fn_;
  const SourceLocation location_;
};

}  // namespace

absl::StatusOr<NodePtr> MakeMapInto(NodePtr child, Dataset::MapIntoFn fn, MapOptions options, SourceLocation location) {
  if (!fn) return absl::InvalidArgumentError("the function is null");
  TD_RETURN_IF_ERROR(CheckParallelCalls(options.num_parallel_calls));
  if (options.spec.empty() || !options.names.empty()) {
    return absl::InvalidArgumentError(
        "MapOptions.spec must describe the result; MapOptions.names is not for it, as spec has the names");
  }
  if (child->info().batch_size > 0) {
    return absl::InvalidArgumentError("the elements are batches; put MapInto before Batch, or use Map");
  }
  TD_RETURN_IF_ERROR(CheckMapSpec(options.spec));
  for (const ComponentSpec& component : options.spec) {
    bool known = component.dtype != DType::kString;
    for (const int64_t size : component.shape) known = known && size >= 0;
    if (known) continue;
    return absl::InvalidArgumentError(absl::StrCat("component '", component.name, "' of MapOptions.spec is ",
                                                   SpecString({component}),
                                                   ", for which no memory can be made before; use Map"));
  }
  NodeInfo info = child->info();
  info.spec = std::move(options.spec);
  return NodePtr(std::make_shared<MapIntoNode>(std::move(child), std::move(info), std::move(fn),
                                               options.num_parallel_calls, location));
}

}  // namespace tandem::data_internal
