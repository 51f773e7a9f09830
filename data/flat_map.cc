// FlatMap, Interleave and Unbatch: stages that replace each (outer) element by the elements of an inner data set. A
// token, from which an element can be made, has three parts: the token of the outer element, a flag that is 1 if the
// outer element is an error, and the token in the inner data set. When a token comes without its payload, the inner
// data set is made again from the outer element.
#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "data/cache_settings.h"
#include "data/file_shard.h"
#include "data/serial_function.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// The stage remembers this many recent inner data sets, so that an element whose token has no payload need not make its
// data set again. Data sets with up to kMaxRecentBytes bytes of tensors are kept alive; the others are found only as
// long as something else holds a reference.
constexpr size_t kRecentInner = 32;
constexpr int64_t kMaxRecentBytes = 64 << 20;
constexpr int64_t kMaxCycleLength = 1 << 16;

class InterleaveNode;

// The payload of an element: the inner data set that the element comes from, and the payload of its token there.
class InnerPayload : public Payload {
 public:
  InnerPayload(NodePtr inner, PayloadPtr payload) : inner(std::move(inner)), payload(std::move(payload)) {}
  PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const override {
    if (payload == nullptr) return nullptr;
    PayloadPtr kept = payload->ForBuffer(payload, room);
    if (kept == nullptr) return nullptr;
    if (kept == payload) return self;
    return std::make_shared<InnerPayload>(inner, std::move(kept));
  }
  int64_t bytes_in_buffer() const override { return payload == nullptr ? 0 : payload->bytes_in_buffer(); }

  const NodePtr inner;
  const PayloadPtr payload;
};

// The most recently used inner data sets, found by the tokens of their outer elements. Thread-safe.
class RecentInner {
 public:
  // Returns the data set, or null if it is not remembered or no longer alive.
  NodePtr Find(const std::vector<int64_t>& outer) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = FindEntry(outer);
    NodePtr node = found == entries_.end() ? nullptr : found->node.lock();
    if (node == nullptr) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    Keep(node);
    return node;
  }
  void Add(std::vector<int64_t> outer, const NodePtr& node) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = FindEntry(outer); found != entries_.end()) entries_.erase(found);
    entries_.push_front({std::move(outer), node, nullptr});
    if (entries_.size() > kRecentInner) entries_.pop_back();
    Keep(node);
  }

 private:
  struct Entry {
    std::vector<int64_t> outer;
    std::weak_ptr<const Node> node;
    NodePtr kept;  // keeps the data set of `node` alive; null if nothing is kept
  };
  std::list<Entry>::iterator FindEntry(const std::vector<int64_t>& outer) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.outer == outer; });
  }
  // Keeps `first`, the most recently used data set, alive, whatever its size. Drops the references to less recently
  // used data sets that together exceed kMaxRecentBytes.
  void Keep(const NodePtr& first) {
    entries_.front().kept = first;
    int64_t bytes = 0;
    for (Entry& entry : entries_) {
      if (entry.kept == nullptr) continue;
      bytes += entry.kept->info().source_bytes;
      if (bytes > kMaxRecentBytes && entry.kept != first) entry.kept = nullptr;
    }
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // ordered from the most to the least recently used
};

// One of the inner data sets that are read in turn.
struct OpenInner {
  std::vector<int64_t> outer;  // the token of the outer element
  NodePtr node;                // null if this place of the cycle is empty
  std::unique_ptr<TokenIterator> tokens;
};

class InterleaveIterator : public TokenIterator {
 public:
  explicit InterleaveIterator(const InterleaveNode& node);

  bool Next(int64_t* token, PayloadPtr* payload) override;
  void Restart() override {
    outer_->Restart();
    for (OpenInner& open : cycle_) open = {};
    place_ = in_block_ = 0;
    outer_ended_ = restored_ = false;
  }
  PassRange passes() const override { return outer_->passes(); }
  void Save(StateWriter* writer) const override;
  bool Restore(StateReader* reader) override;

 private:
  void NextPlace() {
    place_ = (place_ + 1) % static_cast<int64_t>(cycle_.size());
    in_block_ = 0;
  }
  // Draws the next outer element and opens its data set in this place of the cycle. If the outer element is an error,
  // writes the token of that error and returns false.
  bool OpenNext(OpenInner* open, int64_t* token, PayloadPtr* payload);

  const InterleaveNode& node_;
  const std::unique_ptr<TokenIterator> outer_;
  std::vector<OpenInner> cycle_;
  int64_t place_ = 0;
  int64_t in_block_ = 0;  // elements drawn from the current block of block_length elements
  bool outer_ended_ = false;
  // The state was just restored: the outer stage may now have more epochs, so its end is checked again.
  bool restored_ = false;
};

class InterleaveNode : public Node {
 public:
  InterleaveNode(NodePtr child, NodeInfo info, NodeInfo inner_info, Parallelism parallelism, Dataset::DatasetFn fn,
                 InterleaveOptions options, std::string name, const char* op, SourceLocation location)
      : Node(std::move(info)),
        child_(std::move(child)),
        inner_info_(std::move(inner_info)),
        parallelism_(parallelism),
        fn_(std::move(fn)),
        options_(options),
        name_(std::move(name)),
        op_(op),
        location_(location) {}

  const Node& child() const { return *child_; }
  const InterleaveOptions& options() const { return options_; }
  const NodeInfo& inner_info() const { return inner_info_; }

  std::unique_ptr<TokenIterator> MakeTokens() const override { return std::make_unique<InterleaveIterator>(*this); }
  Parallelism parallelism() const override { return parallelism_; }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | ", name_, "(", SpecString(info().spec), ")");
  }
  bool ValidToken(const int64_t* token) const override {
    const int64_t* inner = token + child_->token_width();
    // The data set of the inner token is unknown until the outer element is made, so the inner token is checked only
    // then.
    return child_->ValidToken(token) && *inner >= 0 && *inner <= 1 &&
           std::all_of(inner + 1, token + token_width(), [](int64_t v) { return v >= 0; });
  }
  std::string Describe(const int64_t* token) const override {
    const std::string outer = child_->Describe(token);
    const int64_t* inner = token + child_->token_width();
    if (*inner == 1) return outer;
    absl::StatusOr<NodePtr> node = Inner(token, nullptr);
    if (!node.ok() || !(*node)->ValidToken(inner + 1)) return absl::StrCat("an element of ", outer);
    return absl::StrCat((*node)->Describe(inner + 1), ", out of ", outer);
  }

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const int64_t* inner = token + child_->token_width();
    if (payload != nullptr) {
      const auto& drawn = static_cast<const InnerPayload&>(*payload);
      return drawn.inner->Materialize(inner + 1, drawn.payload.get(), out);
    }
    TD_ASSIGN_OR_RETURN(const NodePtr node, Inner(token, nullptr));
    if (*inner == 1 || !node->ValidToken(inner + 1)) {
      return absl::DataLossError(absl::StrCat(location_.file, ":", location_.line, ": ", op_, ", ",
                                              child_->Describe(token), ": its dataset is not what it was before"));
    }
    return node->Materialize(inner + 1, nullptr, out);
  }

  // Returns the data set of an outer element, whose payload may be null. Errors name the element.
  absl::StatusOr<NodePtr> Inner(const int64_t* token, const Payload* payload) const {
    std::vector<int64_t> key(token, token + child_->token_width());
    if (NodePtr recent = recent_.Find(key); recent != nullptr) return recent;
    Element outer;
    TD_RETURN_IF_ERROR(child_->MaterializeNamed(token, payload, &outer));
    const FileShardScope::Pause dealt_out;
    absl::StatusOr<Dataset> made = fn_(outer);
    absl::Status status = made.ok() ? made->status() : made.status();
    if (status.ok()) status = CheckInner(*made);
    if (!status.ok()) return Annotate(status, absl::StrCat(op_, ", ", child_->Describe(token)), location_);
    NodePtr node = DatasetAccess::Node(*made);
    SendTimes(node->info().stages, inner_info_.stages);
    recent_.Add(std::move(key), node);
    return node;
  }

 private:
  // Returns an error unless the data set has the same stages and types as the first element's.
  absl::Status CheckInner(const Dataset& inner) const {
    const NodeInfo& info = DatasetAccess::Node(inner)->info();
    bool like = info.spec.size() == inner_info_.spec.size() && info.batch_size == inner_info_.batch_size &&
                info.token_width == inner_info_.token_width;
    for (size_t i = 0; like && i < info.spec.size(); ++i) {
      const ComponentSpec &a = info.spec[i], &b = inner_info_.spec[i];
      like = a.name == b.name && a.dtype == b.dtype && a.shape.size() == b.shape.size();
      for (size_t d = 0; like && d < a.shape.size(); ++d) like = a.shape[d] == b.shape[d] || b.shape[d] < 0;
    }
    if (like) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "the dataset has elements { ", SpecString(info.spec), " }, and that of the first element { ",
        SpecString(inner_info_.spec), " }; the function must return datasets of the same stages and types"));
  }

  const NodePtr child_;
  const NodeInfo inner_info_;
  const Parallelism parallelism_;
  const SerialFunction<Dataset::DatasetFn> fn_;
  const InterleaveOptions options_;
  const std::string name_;
  const char* const op_;
  const SourceLocation location_;
  mutable RecentInner recent_;
};

InterleaveIterator::InterleaveIterator(const InterleaveNode& node)
    : node_(node), outer_(node.child().MakeTokens()), cycle_(node.options().cycle_length) {}

bool InterleaveIterator::OpenNext(OpenInner* open, int64_t* token, PayloadPtr* payload) {
  const int64_t width = node_.child().token_width();
  PayloadPtr read;
  open->outer.resize(width);
  if (!outer_->Next(open->outer.data(), node_.child().info().has_payloads ? &read : nullptr)) {
    outer_ended_ = true;
    return true;
  }
  absl::StatusOr<NodePtr> inner = node_.Inner(open->outer.data(), read.get());
  ThrowIfOutOfMemory(inner.status());
  if (inner.ok()) {
    open->tokens = (*inner)->MakeTokens();
    open->node = *std::move(inner);
    return true;
  }
  // The written token is that of an error: Materialize makes the outer element again and returns its error.
  std::copy(open->outer.begin(), open->outer.end(), token);
  token[width] = 1;
  std::fill_n(token + width + 1, node_.inner_info().token_width, 0);
  return false;
}

bool InterleaveIterator::Next(int64_t* token, PayloadPtr* payload) {
  const int64_t width = node_.child().token_width();
  if (std::exchange(restored_, false)) outer_ended_ = false;
  int64_t empty = 0;  // consecutive empty places of the cycle, after the last outer element was drawn
  while (!outer_ended_ || empty < static_cast<int64_t>(cycle_.size())) {
    ThrowIfStopped();
    OpenInner& open = cycle_[place_];
    if (open.node == nullptr) {
      if (!outer_ended_) {
        if (OpenNext(&open, token, payload)) continue;
        NextPlace();
        return true;
      }
      ++empty;
      NextPlace();
      continue;
    }
    empty = 0;
    PayloadPtr inner;
    if (open.tokens->Next(token + width + 1, open.node->info().has_payloads ? &inner : nullptr)) {
      std::copy(open.outer.begin(), open.outer.end(), token);
      token[width] = 0;
      if (payload != nullptr) *payload = std::make_shared<InnerPayload>(open.node, std::move(inner));
      if (++in_block_ == node_.options().block_length) NextPlace();
      return true;
    }
    open = {};
    NextPlace();
  }
  return false;
}

void InterleaveIterator::Save(StateWriter* writer) const {
  outer_->Save(writer);
  writer->Write(outer_ended_);
  writer->Write(place_);
  writer->Write(in_block_);
  for (const OpenInner& open : cycle_) {
    writer->Write(open.node != nullptr);
    if (open.node == nullptr) continue;
    for (int64_t v : open.outer) writer->Write(v);
    open.tokens->Save(writer);
  }
}

bool InterleaveIterator::Restore(StateReader* reader) {
  if (!outer_->Restore(reader) || !reader->Read(&outer_ended_) ||
      !reader->Read(&place_, 0, static_cast<int64_t>(cycle_.size()) - 1) ||
      !reader->Read(&in_block_, 0, node_.options().block_length - 1)) {
    return false;
  }
  for (OpenInner& open : cycle_) {
    open = {};
    bool there = false;
    if (!reader->Read(&there)) return false;
    if (!there) continue;
    open.outer.resize(node_.child().token_width());
    for (int64_t& v : open.outer) {
      if (!reader->Read(&v, 0, INT64_MAX)) return false;
    }
    if (!node_.child().ValidToken(open.outer.data())) return false;
    absl::StatusOr<NodePtr> inner = node_.Inner(open.outer.data(), nullptr);
    if (!inner.ok()) return reader->Fail(inner.status());
    open.node = *std::move(inner);
    open.tokens = open.node->MakeTokens();
    if (!open.tokens->Restore(reader)) return false;
  }
  restored_ = true;
  return true;
}

// Makes the data set of the first element, which determines the types and stages that all must have.
absl::StatusOr<NodePtr> FirstInner(const Node& child, const Dataset::DatasetFn& fn) {
  std::vector<int64_t> token;
  PayloadPtr payload;
  TD_ASSIGN_OR_RETURN(const bool found, FirstToken(child, &token, &payload));
  if (!found) {
    return absl::InvalidArgumentError("the dataset is empty, so what the function returns is unknown");
  }
  Element element;
  TD_RETURN_IF_ERROR(child.MaterializeNamed(token.data(), payload.get(), &element));
  const FileShardScope::Pause dealt_out;
  absl::StatusOr<Dataset> made = CallUserCode([&] { return fn(element); });
  absl::Status status = made.ok() ? made->status() : made.status();
  TD_RETURN_IF_ERROR(tandem::Annotate(status, absl::StrCat(child.Describe(token.data()), ": ")));
  return DatasetAccess::Node(*made);
}

absl::StatusOr<NodePtr> Make(NodePtr child, NodeInfo inner, Parallelism parallelism, Dataset::DatasetFn fn,
                             InterleaveOptions options, std::string name, const char* op, SourceLocation location) {
  TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  NodeInfo info = inner;
  info.token_width = child->token_width() + 1 + inner.token_width;
  const int64_t outer = child->info().cardinality;
  // The cardinality is infinite if one inner data set is; the first element's data set stands for all of them here.
  info.cardinality = outer == 0                                                                   ? 0
                     : outer == kInfiniteCardinality || inner.cardinality == kInfiniteCardinality ? kInfiniteCardinality
                                                                                                  : kUnknownCardinality;
  info.epoch = {.elements = kUnknownCardinality};
  info.full_batches = false;
  info.repeats = child->info().repeats;
  info.has_payloads = info.costly_order = true;
  info.source_bytes = child->info().source_bytes;
  info.shuffles += child->info().shuffles;
  info.cache_settings = child->info().cache_settings;
  if (!inner.cache_settings.empty()) AddCacheSettings(absl::StrCat("{ ", inner.cache_settings, " }"), &info);
  info.sources = child->info().sources;
  info.stages = child->info().stages;
  AddStages(inner.stages, &info.stages);
  return NodePtr(std::make_shared<InterleaveNode>(std::move(child), std::move(info), std::move(inner), parallelism,
                                                  std::move(fn), options, std::move(name), op, location));
}

}  // namespace

absl::StatusOr<NodePtr> MakeInterleave(NodePtr child, Dataset::DatasetFn fn, InterleaveOptions options, const char* op,
                                       SourceLocation location) {
  if (!fn) return absl::InvalidArgumentError("the function is null");
  if (options.cycle_length < 1 || options.cycle_length > kMaxCycleLength) {
    return absl::InvalidArgumentError(
        absl::StrCat("cycle_length must be between 1 and ", kMaxCycleLength, ", got ", options.cycle_length));
  }
  if (options.block_length < 1) {
    return absl::InvalidArgumentError(absl::StrCat("block_length must be at least 1, got ", options.block_length));
  }
  TD_RETURN_IF_ERROR(CheckParallelCalls(options.num_parallel_calls));
  TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  TD_ASSIGN_OR_RETURN(const NodePtr first, FirstInner(*child, fn));
  const Parallelism p = WithCalls(Larger(child->parallelism(), first->parallelism()), options.num_parallel_calls);
  std::string name = options.cycle_length == 1
                         ? "flat_map"
                         : absl::StrCat("interleave(", options.cycle_length, ", ", options.block_length, ")");
  return Make(std::move(child), first->info(), p, std::move(fn), options, std::move(name), op, location);
}

absl::StatusOr<NodePtr> MakeUnbatch(NodePtr child, SourceLocation location) {
  NodeInfo inner;
  for (const ComponentSpec& component : child->info().spec) {
    if (component.shape.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the elements are { ", SpecString(child->info().spec),
                                                     " }; component '", component.name, "' has no rows"));
    }
    inner.spec.push_back({component.name, component.dtype, {component.shape.begin() + 1, component.shape.end()}});
  }
  inner.stages.push_back(std::make_shared<StageTimes>("FromTensorSlices", location));
  const std::vector<ComponentSpec> spec = child->info().spec;
  const auto rows = [spec, location](const Element& element) -> absl::StatusOr<Dataset> {
    Dataset::Slices slices;
    for (size_t c = 0; c < spec.size(); ++c) slices.emplace_back(spec[c].name, element.components[c]);
    return Dataset::FromTensorSlices(std::move(slices), location);
  };
  const Parallelism parallelism = child->parallelism();
  return Make(std::move(child), std::move(inner), parallelism, rows, {.cycle_length = 1, .block_length = 1}, "unbatch",
              "Unbatch", location);
}

}  // namespace tandem::data_internal
