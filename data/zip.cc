// The stages that join datasets, Zip and Concatenate, and Enumerate, which adds a number to each element.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// Base of stages with several children. Requests as many threads, and elements made ahead, as the child that requests
// the most.
class JoinNode : public Node {
 public:
  JoinNode(std::vector<NodePtr> children, NodeInfo info) : Node(std::move(info)), children_(std::move(children)) {}

  const std::vector<NodePtr>& children() const { return children_; }

  Parallelism parallelism() const override {
    Parallelism p;
    for (const NodePtr& child : children_) p = Larger(p, child->parallelism());
    return p;
  }
  std::string Fingerprint() const override {
    std::vector<std::string> all;
    bool known = false;
    for (const NodePtr& child : children_) {
      const std::string own = child->Fingerprint();
      known |= !own.empty();
      all.push_back(own.empty() ? std::string(1, '?') : own);
    }
    return known ? absl::StrJoin(all, " + ") : "";
  }

 protected:
  std::string Signatures() const {
    return absl::StrJoin(children_, "; ", [](std::string* out, const NodePtr& child) {
      absl::StrAppend(out, child->Signature(/*batch_sizes=*/true));
    });
  }

  const std::vector<NodePtr> children_;
};

// Base of iterators over several children. A saved state is the states of the children, one after another.
class JoinIterator : public TokenIterator {
 public:
  explicit JoinIterator(const std::vector<NodePtr>& children) {
    for (const NodePtr& child : children) children_.push_back(child->MakeTokens());
  }
  void Restart() override {
    for (auto& child : children_) child->Restart();
  }
  void Save(StateWriter* writer) const override {
    for (const auto& child : children_) child->Save(writer);
  }
  bool Restore(StateReader* reader) override {
    return std::all_of(children_.begin(), children_.end(), [&](auto& child) { return child->Restore(reader); });
  }

 protected:
  std::vector<std::unique_ptr<TokenIterator>> children_;
};

// Zip's iterator. A token is the children's tokens, concatenated.
class ZipIterator : public JoinIterator {
 public:
  ZipIterator(const std::vector<NodePtr>& children, bool has_payloads)
      : JoinIterator(children), nodes_(children), has_payloads_(has_payloads) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    auto payloads = payload != nullptr && has_payloads_ ? std::make_shared<RowPayloads>() : nullptr;
    if (payloads != nullptr) payloads->rows.resize(children_.size());
    if (ended_) return false;
    for (size_t i = 0; i < children_.size(); ++i) {
      if (!children_[i]->Next(token, payloads == nullptr ? nullptr : &payloads->rows[i])) {
        ended_ = i > 0;
        return false;
      }
      token += nodes_[i]->token_width();
    }
    if (payloads != nullptr) *payload = std::move(payloads);
    return true;
  }
  void Restart() override {
    JoinIterator::Restart();
    ended_ = false;
  }
  // Returns the passes of the first child that has a Repeat.
  PassRange passes() const override {
    const auto found =
        std::find_if(nodes_.begin(), nodes_.end(), [](const NodePtr& node) { return node->info().repeats; });
    return children_[found == nodes_.end() ? 0 : found - nodes_.begin()]->passes();
  }
  void Save(StateWriter* writer) const override {
    JoinIterator::Save(writer);
    writer->Write(ended_);
  }
  bool Restore(StateReader* reader) override { return JoinIterator::Restore(reader) && reader->Read(&ended_); }

 private:
  const std::vector<NodePtr>& nodes_;
  const bool has_payloads_;
  // True after a child has ended when children before it had already advanced: these must not advance again.
  bool ended_ = false;
};

class ZipNode : public JoinNode {
 public:
  using JoinNode::JoinNode;

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<ZipIterator>(children_, info().has_payloads);
  }
  bool ValidToken(const int64_t* token) const override {
    return std::all_of(children_.begin(), children_.end(), [&](const NodePtr& child) {
      const int64_t* own = std::exchange(token, token + child->token_width());
      return child->ValidToken(own);
    });
  }
  int64_t Rows(const int64_t* token) const override {
    const int64_t rows = children_[0]->Rows(token);
    for (const NodePtr& child : children_) {
      if (child->Rows(std::exchange(token, token + child->token_width())) != rows) return -1;
    }
    return rows;
  }
  std::string Describe(const int64_t* token) const override {
    std::vector<std::string> all;
    for (const NodePtr& child : children_) {
      all.push_back(child->Describe(token));
      token += child->token_width();
    }
    return absl::StrJoin(all, " with ");
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const auto* payloads = static_cast<const RowPayloads*>(payload);
    Element all, one;
    for (size_t i = 0; i < children_.size(); ++i) {
      TD_RETURN_IF_ERROR(
          children_[i]->Materialize(token, payloads == nullptr ? nullptr : payloads->rows[i].get(), &one));
      std::move(one.components.begin(), one.components.end(), std::back_inserter(all.components));
      one.components.clear();
      token += children_[i]->token_width();
    }
    *out = std::move(all);
    return absl::OkStatus();
  }
  std::string Signature(bool) const override { return absl::StrCat("zip { ", Signatures(), " }"); }
};

// Concatenate's iterator. A token is the number of a child, a token of this child, and zeros.
class ConcatenateIterator : public JoinIterator {
 public:
  ConcatenateIterator(const std::vector<NodePtr>& children, int64_t width)
      : JoinIterator(children), nodes_(children), width_(width) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    const int64_t last = static_cast<int64_t>(children_.size()) - 1;
    at_ = std::min(at_, last);
    for (;; ++at_) {
      if (!children_[at_]->Next(token + 1, payload)) {
        if (at_ == last) return false;  // at_ stays at the last child, which may have more epochs after a restore
        continue;
      }
      token[0] = at_;
      const int64_t used = 1 + nodes_[at_]->token_width();
      std::fill(token + used, token + width_, 0);
      return true;
    }
  }
  void Restart() override {
    JoinIterator::Restart();
    at_ = 0;
  }
  void Save(StateWriter* writer) const override {
    JoinIterator::Save(writer);
    writer->Write(at_);
  }
  bool Restore(StateReader* reader) override {
    return JoinIterator::Restore(reader) && reader->Read(&at_, 0, static_cast<int64_t>(children_.size()));
  }

 private:
  const std::vector<NodePtr>& nodes_;
  const int64_t width_;
  int64_t at_ = 0;
};

class ConcatenateNode : public JoinNode {
 public:
  using JoinNode::JoinNode;

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<ConcatenateIterator>(children_, token_width());
  }
  bool ValidToken(const int64_t* token) const override {
    return token[0] >= 0 && token[0] < static_cast<int64_t>(children_.size()) && Child(token).ValidToken(token + 1);
  }
  int64_t Rows(const int64_t* token) const override { return Child(token).Rows(token + 1); }
  std::string Describe(const int64_t* token) const override { return Child(token).Describe(token + 1); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return Child(token).DescribeRow(token + 1, row);
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    return Child(token).Materialize(token + 1, payload, out);
  }
  std::string Signature(bool) const override { return absl::StrCat("concatenate { ", Signatures(), " }"); }

 private:
  const Node& Child(const int64_t* token) const { return *children_[token[0]]; }
};

// Enumerate's iterator. A token is the element's number and the child's token.
class EnumerateIterator : public TokenIterator {
 public:
  EnumerateIterator(std::unique_ptr<TokenIterator> child, int64_t start)
      : child_(std::move(child)), start_(start), next_(start) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (!child_->Next(token + 1, payload)) return false;
    token[0] = next_++;
    return true;
  }
  void Restart() override {
    child_->Restart();
    next_ = start_;
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(next_);
  }
  bool Restore(StateReader* reader) override { return child_->Restore(reader) && reader->Read(&next_, 0, INT64_MAX); }

 private:
  const std::unique_ptr<TokenIterator> child_;
  const int64_t start_;
  int64_t next_;
};

class EnumerateNode : public Node {
 public:
  EnumerateNode(NodePtr child, NodeInfo info, int64_t start)
      : Node(std::move(info)), child_(std::move(child)), start_(start) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<EnumerateIterator>(child_->MakeTokens(), start_);
  }
  bool ValidToken(const int64_t* token) const override { return token[0] >= 0 && child_->ValidToken(token + 1); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token + 1); }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    Element element;
    TD_RETURN_IF_ERROR(child_->Materialize(token + 1, payload, &element));
    element.components.insert(element.components.begin(), HostTensor::Scalar<int64_t>(token[0]));
    *out = std::move(element);
    return absl::OkStatus();
  }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | enumerate");
  }

 private:
  const NodePtr child_;
  const int64_t start_;
};

// Combines the NodeInfo of several children, except spec, token width and cardinality.
absl::StatusOr<NodeInfo> CommonInfo(const std::vector<NodePtr>& children) {
  NodeInfo info = children[0]->info();
  info.cache_settings.clear();
  info.source_bytes = 0;
  for (const NodePtr& child : children) {
    const NodeInfo& other = child->info();
    if (other.batch_size != info.batch_size) {
      return absl::InvalidArgumentError(absl::StrCat("one dataset has batches of ", info.batch_size, " and another of ",
                                                     other.batch_size, " (0: single elements); batch afterwards"));
    }
    if (other.epoch != info.epoch) info.epoch = {.elements = kUnknownCardinality};
    info.full_batches &= other.full_batches;
    info.repeats |= other.repeats;
    info.has_payloads |= other.has_payloads;
    info.needs_payload |= other.needs_payload;
    info.costly_order |= other.costly_order;
    info.source_bytes += other.source_bytes;
    info.shuffles = std::max(info.shuffles, other.shuffles);
    if (!other.cache_settings.empty()) AddCacheSettings(absl::StrCat("{ ", other.cache_settings, " }"), &info);
    AddStages(other.stages, &info.stages);
    AddStages(other.sources, &info.sources);
  }
  return info;
}

}  // namespace

absl::StatusOr<NodePtr> MakeZip(std::vector<NodePtr> children) {
  if (children.empty()) return absl::InvalidArgumentError("at least one dataset is needed");
  TD_ASSIGN_OR_RETURN(NodeInfo info, CommonInfo(children));
  info.spec.clear();
  info.token_width = 0;
  info.cardinality = kInfiniteCardinality;
  for (const NodePtr& child : children) {
    for (const ComponentSpec& component : child->info().spec) {
      for (const ComponentSpec& other : info.spec) {
        if (other.name != component.name) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("two components have the name '", other.name, "'; rename one with Map"));
      }
      info.spec.push_back(component);
    }
    info.token_width += child->token_width();
    // Zip is as long as its shortest child. Its cardinality is unknown if a child's is, unless another child is empty.
    const int64_t n = child->info().cardinality, so_far = info.cardinality;
    if (n == 0 || so_far == 0) {
      info.cardinality = 0;
    } else if (n == kUnknownCardinality || so_far == kUnknownCardinality) {
      info.cardinality = kUnknownCardinality;
    } else if (n != kInfiniteCardinality) {
      info.cardinality = so_far == kInfiniteCardinality ? n : std::min(n, so_far);
    }
  }
  return NodePtr(std::make_shared<ZipNode>(std::move(children), std::move(info)));
}

absl::StatusOr<NodePtr> MakeConcatenate(NodePtr first, NodePtr second) {
  const std::vector<ComponentSpec> a = first->info().spec, b = second->info().spec;
  std::vector<NodePtr> children = {std::move(first), std::move(second)};
  TD_ASSIGN_OR_RETURN(NodeInfo info, CommonInfo(children));
  bool alike = a.size() == b.size();
  for (size_t i = 0; alike && i < a.size(); ++i) {
    alike = a[i].name == b[i].name && a[i].dtype == b[i].dtype && a[i].shape.size() == b[i].shape.size();
    for (size_t d = 0; alike && d < a[i].shape.size(); ++d) {
      if (a[i].shape[d] != b[i].shape[d]) info.spec[i].shape[d] = -1;
    }
  }
  if (!alike) {
    return absl::InvalidArgumentError(absl::StrCat("the elements of the first dataset are { ", SpecString(a),
                                                   " } and those of the second { ", SpecString(b),
                                                   " }; names, types and ranks must be equal"));
  }
  const int64_t n = children[0]->info().cardinality, m = children[1]->info().cardinality;
  info.cardinality = n == kInfiniteCardinality || m == kInfiniteCardinality ? kInfiniteCardinality
                     : n == kUnknownCardinality || m == kUnknownCardinality ? kUnknownCardinality
                     : n > INT64_MAX - m                                    ? kInfiniteCardinality
                                                                            : n + m;
  ForgetEpoch(&info);
  info.repeats = false;  // there is no Repeat after them, so all children together are one pass
  info.full_batches = false;
  info.token_width = 1 + std::max(children[0]->token_width(), children[1]->token_width());
  return NodePtr(std::make_shared<ConcatenateNode>(std::move(children), std::move(info)));
}

absl::StatusOr<NodePtr> MakeEnumerate(NodePtr child, int64_t start, const std::string& name) {
  if (start < 0) return absl::InvalidArgumentError(absl::StrCat("the first number must be >= 0, got ", start));
  NodeInfo info = child->info();
  if (info.batch_size > 0) {
    return absl::InvalidArgumentError("the elements are batches; number the examples before Batch");
  }
  for (const ComponentSpec& component : info.spec) {
    if (component.name == name) {
      return absl::InvalidArgumentError(absl::StrCat("there is a component '", name, "' already; give another name"));
    }
  }
  info.spec.insert(info.spec.begin(), ComponentSpec{name, DType::kInt64, {}});
  ++info.token_width;
  AddCacheSettings(absl::StrCat("enumerate(", start, ")"), &info);
  return NodePtr(std::make_shared<EnumerateNode>(std::move(child), std::move(info), start));
}

}  // namespace tandem::data_internal
