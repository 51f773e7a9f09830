// Batch: stacks elements. The token of a batch (the name from which it can be made) is its number of rows, then the
// tokens of these rows, then zeros up to the full batch size.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class BatchIterator : public TokenIterator {
 public:
  BatchIterator(const Node& child, int64_t batch_size, bool drop_remainder)
      : child_(child.MakeTokens()),
        width_(child.token_width()),
        has_payloads_(child.info().has_payloads),
        batch_size_(batch_size),
        drop_remainder_(drop_remainder) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    std::shared_ptr<RowPayloads> payloads;
    if (payload != nullptr && has_payloads_) {
      payloads = std::make_shared<RowPayloads>();
      payloads->rows.resize(batch_size_);
    }
    int64_t* rows = token + 1;
    int64_t count = 0;
    while (count < batch_size_ &&
           child_->Next(rows + count * width_, payloads == nullptr ? nullptr : &payloads->rows[count])) {
      if (count == 0) passes_.first = child_->passes().first;
      ++count;
    }
    if (count == 0 || (drop_remainder_ && count < batch_size_)) return false;
    passes_.last = child_->passes().last;
    token[0] = count;
    std::fill(rows + count * width_, rows + batch_size_ * width_, 0);
    if (payloads != nullptr) *payload = std::move(payloads);
    return true;
  }
  void Restart() override { child_->Restart(); }
  PassRange passes() const override { return passes_; }
  void Save(StateWriter* writer) const override { child_->Save(writer); }
  bool Restore(StateReader* reader) override { return child_->Restore(reader); }

 private:
  const std::unique_ptr<TokenIterator> child_;
  const int64_t width_;
  const bool has_payloads_;
  const int64_t batch_size_;
  const bool drop_remainder_;
  PassRange passes_;
};

class BatchNode : public Node {
 public:
  BatchNode(NodePtr child, NodeInfo info, bool drop_remainder, SourceLocation location)
      : Node(std::move(info)), child_(std::move(child)), drop_remainder_(drop_remainder), location_(location) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<BatchIterator>(*child_, info().batch_size, drop_remainder_);
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const PayloadPtr* rows = payload == nullptr ? nullptr : static_cast<const RowPayloads*>(payload)->rows.data();
    return child_->MaterializeRows(token + 1, rows, token[0], location_, out);
  }
  int64_t Rows(const int64_t* token) const override { return token[0]; }
  bool makes_ranges() const override { return true; }
  absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                Element* out) const override {
    const PayloadPtr* rows = payload == nullptr ? nullptr : static_cast<const RowPayloads*>(payload)->rows.data();
    return child_->MaterializeRows(token + 1 + first * child_->token_width(), rows == nullptr ? nullptr : rows + first,
                                   count, location_, out);
  }
  bool ValidToken(const int64_t* token) const override {
    if (token[0] < (drop_remainder_ ? info().batch_size : 1) || token[0] > info().batch_size) return false;
    for (int64_t i = 0; i < token[0]; ++i) {
      if (!child_->ValidToken(token + 1 + i * child_->token_width())) return false;
    }
    return true;
  }
  std::string Describe(const int64_t* token) const override {
    return absl::StrCat("the batch of ", token[0], " that begins with ", child_->Describe(token + 1));
  }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return child_->Describe(token + 1 + row * child_->token_width());
  }
  Parallelism parallelism() const override {
    Parallelism p = child_->parallelism();
    p.window = (p.window + info().batch_size - 1) / info().batch_size;
    return p;
  }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool batch_sizes) const override {
    // If the child's elements are batches, their sizes change which elements this stage stacks, so the signature
    // includes them.
    const std::string child = child_->Signature(/*batch_sizes=*/true);
    const char* drop = drop_remainder_ ? "drop remainder" : "";
    if (batch_sizes) {
      return absl::StrCat(child, " | batch(", info().batch_size, drop_remainder_ ? ", " : "", drop, ")");
    }
    return absl::StrCat(child, " | batch", drop_remainder_ ? absl::StrCat("(", drop, ")") : "");
  }

 private:
  const NodePtr child_;
  const bool drop_remainder_;
  const SourceLocation location_;
};

}  // namespace

absl::StatusOr<NodePtr> MakeBatch(NodePtr child, int64_t batch_size, BatchOptions options, SourceLocation location) {
  if (batch_size < 1) return absl::InvalidArgumentError(absl::StrCat("the size must be at least 1, got ", batch_size));
  NodeInfo info = child->info();
  if (batch_size > kMaxTokenWidth / info.token_width) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size ", batch_size, " is too large; ", kMaxTokenWidth / info.token_width, " is the limit"));
  }
  if (options.drop_remainder && info.cardinality > 0 && info.cardinality < batch_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the size ", batch_size, " is larger than the data (", info.cardinality,
        " elements) and drop_remainder is set: there would be no batch; take a smaller size or keep the remainder"));
  }
  if (info.batch_size > 0 && !info.full_batches) {
    return absl::InvalidArgumentError(
        absl::StrCat("the elements are batches of ", info.batch_size, " already, from the Batch at ",
                     info.batched_at.file, ":", info.batched_at.line,
                     ", and the last one may be smaller: remove one of the two, or set drop_remainder in the first"));
  }
  if (info.batch_size > 0) {
    TD_LOG(WARNING) << location.file << ":" << location.line << ": Batch: the elements are batches of "
                    << info.batch_size << " already, from the Batch at " << info.batched_at.file << ":"
                    << info.batched_at.line << ": every example is one of them; remove one of the two if this is not "
                    << "what you want";
  }
  info.batched_at = location;
  for (ComponentSpec& component : info.spec) {
    if (!component.shape.empty() && component.shape[0] == kBatch && info.batch_size > 0) {
      component.shape[0] = info.batch_size;
    }
    component.shape.insert(component.shape.begin(), kBatch);
  }
  info.token_width = 1 + batch_size * info.token_width;
  info.batch_size = batch_size;
  info.full_batches = options.drop_remainder || info.cardinality == kInfiniteCardinality ||
                      (info.cardinality >= 0 && info.cardinality % batch_size == 0);
  ShortenEpoch(&info, batch_size);
  if (info.cardinality >= 0) {
    bool remainder = !options.drop_remainder && info.cardinality % batch_size != 0;
    info.cardinality = info.cardinality / batch_size + (remainder ? 1 : 0);
  }
  return NodePtr(std::make_shared<BatchNode>(std::move(child), std::move(info), options.drop_remainder, location));
}

}  // namespace tandem::data_internal
