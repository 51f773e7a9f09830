// Scan: passes a state from element to element. The state is saved with the position. An element cannot be made again
// from its token (its place in the order) alone, so stages that buffer tokens cannot follow.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/element_count.h"
#include "base/status_macros.h"
#include "data/made_element.h"
#include "data/serial_function.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

constexpr int64_t kMaxRank = 16;

// Writes the tensor's sizes, and its bytes as 64-bit numbers, the last one padded with zeros.
void SaveTensor(const HostTensor& t, StateWriter* writer) {
  writer->Write(t.shape().size());
  for (int64_t size : t.shape()) writer->Write(size);
  const char* bytes = static_cast<const char*>(t.raw());
  for (int64_t at = 0; at < t.byte_size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min<int64_t>(8, t.byte_size() - at));
    writer->Write(word);
  }
}

bool RestoreTensor(DType dtype, StateReader* reader, HostTensor* t) {
  int64_t rank = 0;
  if (!reader->Read(&rank, 0, kMaxRank)) return false;
  Shape shape(rank);
  for (int64_t& size : shape) {
    if (!reader->Read(&size, 0, INT64_MAX)) return false;
  }
  const int64_t elements = CheckedNumElements(shape);
  // Each number in a saved state takes at least one byte, so the remaining bytes bound the number of elements.
  if (elements < 0 || elements > reader->remaining() * 8) return false;
  *t = HostTensor(dtype, std::move(shape));
  char* bytes = static_cast<char*>(t->raw());
  for (int64_t at = 0; at < t->byte_size(); at += 8) {
    uint64_t word = 0;
    if (!reader->Read(&word)) return false;
    std::memcpy(bytes + at, &word, std::min<int64_t>(8, t->byte_size() - at));
  }
  return true;
}

class ScanNode : public OrderNode {
 public:
  ScanNode(NodePtr child, NodeInfo info, Element initial, Dataset::ScanFn fn, SourceLocation location)
      : OrderNode(std::move(child), std::move(info)),
        initial_(std::move(initial)),
        fn_(std::move(fn)),
        location_(location) {}

  const Node& child() const { return *child_; }
  const Element& initial() const { return initial_; }

  // Replaces *element by the function's result and updates *state; an error leaves *state unchanged.
  absl::Status Step(const int64_t* token, Element* state, Element* element) const {
    Element next;
    absl::StatusOr<Element> out = fn_(*state, *element, &next);
    absl::Status status = out.status();
    if (status.ok()) status = OrderByName(*names(), element->names, &*out);
    if (status.ok()) status = CheckElement(info().spec, *out);
    if (status.ok() && initial_.names != nullptr) status = OrderByName(*initial_.names, state->names, &next);
    if (status.ok()) status = CheckState(next);
    if (!status.ok()) return Annotate(status, absl::StrCat("Scan, ", Describe(token)), location_);
    *element = *std::move(out);
    *state = std::move(next);
    state->names = initial_.names;
    return absl::OkStatus();
  }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  int64_t Rows(const int64_t*) const override { return -1; }  // the function may change the number of rows
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (payload != nullptr) return MadeElement::Get(*payload, out);
    return Annotate(absl::InternalError("an element is asked for without its state"), "Scan", location_);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                               SourceLocation location, Element* out) const override {
    return Node::MaterializeRows(tokens, payloads, count, location, out);
  }
  bool makes_ranges() const override { return false; }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | scan(", SpecString(info().spec), ")");
  }

 private:
  absl::Status CheckState(const Element& state) const {
    bool like = state.components.size() == initial_.components.size();
    for (size_t i = 0; like && i < state.components.size(); ++i) {
      like = state.components[i].dtype() == initial_.components[i].dtype() && state.components[i].rank() <= kMaxRank;
    }
    if (like) return absl::OkStatus();
    return absl::InvalidArgumentError("the function's next state has not the types of the first");
  }

  const Element initial_;
  const SerialFunction<Dataset::ScanFn> fn_;
  const SourceLocation location_;
};

class ScanIterator : public TokenIterator {
 public:
  explicit ScanIterator(const ScanNode& node)
      : node_(node), child_(node.child().MakeTokens()), state_(node.initial()) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    PayloadPtr read;
    if (!child_->Next(token, node_.child().info().has_payloads ? &read : nullptr)) return false;
    Element element;
    absl::Status status = node_.child().MaterializeNamed(token, read.get(), &element);
    if (status.ok()) status = node_.Step(token, &state_, &element);
    ThrowIfOutOfMemory(status);
    if (payload != nullptr) *payload = std::make_shared<MadeElement>(std::move(element), std::move(status));
    return true;
  }
  void Restart() override {
    child_->Restart();
    state_ = node_.initial();
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    for (const HostTensor& t : state_.components) SaveTensor(t, writer);
  }
  bool Restore(StateReader* reader) override {
    if (!child_->Restore(reader)) return false;
    for (size_t i = 0; i < state_.components.size(); ++i) {
      HostTensor t;
      if (!RestoreTensor(node_.initial().components[i].dtype(), reader, &t)) return false;
      state_.components[i] = std::move(t);
    }
    return true;
  }

 private:
  const ScanNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  Element state_;  // the function's state after the last element
};

std::unique_ptr<TokenIterator> ScanNode::MakeTokens() const { return std::make_unique<ScanIterator>(*this); }

}  // namespace

absl::StatusOr<NodePtr> MakeScan(NodePtr child, Element initial, Dataset::ScanFn fn, std::vector<ComponentSpec> spec,
                                 SourceLocation location) {
  if (!fn) return absl::InvalidArgumentError("the function is null");
  if (spec.empty()) return absl::InvalidArgumentError("the elements need at least one component");
  for (const ComponentSpec& component : spec) {
    if (component.dtype == DType::kInvalid || component.dtype == DType::kBFloat16) {
      return absl::InvalidArgumentError(
          absl::StrCat("component '", component.name, "' is ", Name(component.dtype), ", which no tensor has"));
    }
  }
  for (const HostTensor& t : initial.components) {
    TD_RETURN_IF_ERROR(t.status());
    if (t.empty() || t.dtype() == DType::kString || t.rank() > kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat("the state is ", Name(t.dtype()), ShapeString(t.shape()), "; it must be of numbers"));
    }
  }
  NodeInfo info = child->info();
  info.spec = std::move(spec);
  info.has_payloads = info.costly_order = info.needs_payload = true;
  return NodePtr(
      std::make_shared<ScanNode>(std::move(child), std::move(info), std::move(initial), std::move(fn), location));
}

absl::Status CheckKeepsTokens(const Node& child) {
  if (!child.info().needs_payload) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the stage cannot follow Scan: it keeps elements by their places, and those of Scan depend on all before them; "
      "put it in front");
}

}  // namespace tandem::data_internal
