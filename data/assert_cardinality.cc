// AssertCardinality: checks the number of elements, which the user states because the stages before cannot know it. A
// token (the name by which a stage asks its child for an element) is a flag and the child's token. The flag is 1 if the
// pass ended too early and this token stands for the first missing element, 2 for the first element too many, otherwise
// 0.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/cache_settings.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

enum Kind : int64_t { kElement, kMissing, kTooMany };

class AssertCardinalityNode : public Node {
 public:
  AssertCardinalityNode(NodePtr child, NodeInfo info, int64_t count, SourceLocation location)
      : Node(std::move(info)), child_(std::move(child)), count_(count), location_(location) {}

  const Node& child() const { return *child_; }
  int64_t count() const { return count_; }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (token[0] == kElement) return child_->Materialize(token + 1, payload, out);
    return Annotate(token[0] == kTooMany
                        ? absl::InvalidArgumentError(absl::StrCat("the dataset has more than ", count_,
                                                                  " elements in a pass: ", child_->Describe(token + 1),
                                                                  " is one too many"))
                        : absl::InvalidArgumentError(
                              absl::StrCat("the dataset has only ", token[1], " elements in a pass, not ", count_)),
                    "AssertCardinality", location_);
  }
  int64_t Rows(const int64_t* token) const override { return token[0] == kElement ? child_->Rows(token + 1) : -1; }
  bool ValidToken(const int64_t* token) const override {
    if (token[0] == kMissing) return token[1] >= 0 && token[1] < count_;
    return (token[0] == kElement || token[0] == kTooMany) && child_->ValidToken(token + 1);
  }
  std::string Describe(const int64_t* token) const override {
    return token[0] == kMissing ? absl::StrCat("element ", token[1]) : child_->Describe(token + 1);
  }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return token[0] == kMissing ? Describe(token) : child_->DescribeRow(token + 1, row);
  }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | assert_cardinality(", count_, ")");
  }

 private:
  const NodePtr child_;
  const int64_t count_;
  const SourceLocation location_;
};

class AssertCardinalityIterator : public TokenIterator {
 public:
  explicit AssertCardinalityIterator(const AssertCardinalityNode& node)
      : node_(node), child_(node.child().MakeTokens()) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (ended_) return false;
    token[0] = kElement;
    if (child_->Next(token + 1, payload)) {
      ended_ = count_ == node_.count();
      if (ended_) token[0] = kTooMany;
      count_ += !ended_;
      return true;
    }
    ended_ = true;
    if (count_ == node_.count()) return false;
    std::fill(token, token + node_.token_width(), 0);
    token[0] = kMissing;
    token[1] = count_;
    return true;
  }
  void Restart() override {
    child_->Restart();
    count_ = 0;
    ended_ = false;
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(count_);
    writer->Write(ended_);
  }
  bool Restore(StateReader* reader) override {
    return child_->Restore(reader) && reader->Read(&count_, 0, node_.count()) && reader->Read(&ended_);
  }

 private:
  const AssertCardinalityNode& node_;
  const std::unique_ptr<TokenIterator> child_;
  int64_t count_ = 0;  // number of elements drawn in this pass so far
  bool ended_ = false;
};

std::unique_ptr<TokenIterator> AssertCardinalityNode::MakeTokens() const {
  return std::make_unique<AssertCardinalityIterator>(*this);
}

}  // namespace

absl::StatusOr<NodePtr> MakeAssertCardinality(NodePtr child, int64_t count, SourceLocation location) {
  if (count < 0) return absl::InvalidArgumentError(absl::StrCat("the count must be >= 0, got ", count));
  const int64_t known = child->info().cardinality;
  if (known != kUnknownCardinality && known != count) {
    return absl::InvalidArgumentError(
        known == kInfiniteCardinality
            ? absl::StrCat("the dataset has no end, and not ", count, " elements; put AssertCardinality before Repeat")
            : absl::StrCat("the dataset has ", known, " elements, not ", count));
  }
  NodeInfo info = child->info();
  info.cardinality = count;
  ++info.token_width;
  AddCacheSettings(absl::StrCat("assert_cardinality(", count, ")"), &info);
  return NodePtr(std::make_shared<AssertCardinalityNode>(std::move(child), std::move(info), count, location));
}

}  // namespace tandem::data_internal
