// Cache: the elements of the first pass, kept in memory. A token is the element's number and its token in that pass, so
// the position is a number, whatever the stages before do in later passes.
#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class CacheNode : public Node {
 public:
  CacheNode(NodePtr child, NodeInfo info) : Node(std::move(info)), child_(std::move(child)) {}

  // Writes token number `i` of the child's first pass, drawn for all iterators together; false behind the last.
  bool Token(int64_t i, int64_t* token, PayloadPtr* payload) const {
    std::lock_guard<std::mutex> lock(order_mutex_);
    if (order_ == nullptr) order_ = child_->MakeTokens();
    const int64_t width = child_->token_width();
    std::vector<int64_t> next(width);
    while (drawn_ <= i && !ended_) {
      // Only the element that is asked for is about to be made.
      const bool wanted = payload != nullptr && drawn_ == i && child_->info().has_payloads;
      if (!order_->Next(next.data(), wanted ? payload : nullptr)) {
        ended_ = true;
        break;
      }
      tokens_.insert(tokens_.end(), next.begin(), next.end());
      ++drawn_;
    }
    if (i >= drawn_) return false;
    token[0] = i;
    for (int64_t k = 0; k < width; ++k) token[1 + k] = tokens_[i * width + k];
    return true;
  }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  bool ValidToken(const int64_t* token) const override { return token[0] >= 0 && child_->ValidToken(token + 1); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token + 1); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return child_->DescribeRow(token + 1, row);
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const size_t i = static_cast<size_t>(token[0]);
    {
      std::lock_guard<std::mutex> lock(elements_mutex_);
      if (i < elements_.size() && !elements_[i].components.empty()) {
        *out = elements_[i];
        return absl::OkStatus();
      }
    }
    // Errors are not kept.
    absl::Status status = child_->Materialize(token + 1, payload, out);
    std::lock_guard<std::mutex> lock(elements_mutex_);
    if (!status.ok() || !IsDrawn(token)) return status;
    if (i >= elements_.size()) elements_.resize(i + 1);
    elements_[i] = *out;
    return status;
  }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | cache");
  }

 private:
  // Whether a token is one of the first pass: a saved one may be of elements that are not drawn yet, or wrong.
  bool IsDrawn(const int64_t* token) const {
    std::lock_guard<std::mutex> lock(order_mutex_);
    const int64_t width = child_->token_width();
    if (token[0] >= drawn_) return false;
    return std::equal(token + 1, token + 1 + width, tokens_.begin() + token[0] * width);
  }

  const NodePtr child_;
  mutable std::mutex order_mutex_;
  mutable std::unique_ptr<TokenIterator> order_;
  mutable std::deque<int64_t> tokens_;  // of the elements that were drawn, one after another
  mutable int64_t drawn_ = 0;
  mutable bool ended_ = false;
  mutable std::mutex elements_mutex_;     // taken before order_mutex_
  mutable std::deque<Element> elements_;  // by number; without components where it is not made yet
};

class CacheIterator : public TokenIterator {
 public:
  explicit CacheIterator(const CacheNode& node) : node_(node) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (!node_.Token(next_, token, payload)) return false;
    ++next_;
    return true;
  }
  void Restart() override { next_ = 0; }
  void Save(StateWriter* writer) const override { writer->Write(next_); }
  bool Restore(StateReader* reader) override { return reader->Read(&next_, 0, INT64_MAX); }

 private:
  const CacheNode& node_;
  int64_t next_ = 0;
};

std::unique_ptr<TokenIterator> CacheNode::MakeTokens() const { return std::make_unique<CacheIterator>(*this); }

}  // namespace

absl::StatusOr<NodePtr> MakeCache(NodePtr child) {
  NodeInfo info = child->info();
  if (info.cardinality == kInfiniteCardinality) {
    return absl::InvalidArgumentError("the dataset has no end, so it cannot be kept; put Cache before Repeat");
  }
  TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  ++info.token_width;
  return NodePtr(std::make_shared<CacheNode>(std::move(child), std::move(info)));
}

}  // namespace tandem::data_internal
