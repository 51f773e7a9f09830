// Repeat: makes several passes (epochs) over the elements of the stage before it (its child).
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/cache_settings.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

class RepeatIterator : public TokenIterator {
 public:
  RepeatIterator(std::unique_ptr<TokenIterator> child, int64_t count) : child_(std::move(child)), count_(count) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    for (;;) {
      if (count_ >= 0 && passes_ >= count_) return false;
      // The child restarts only when the next element is requested, so that a state saved at the very end can be
      // resumed with a larger number of epochs.
      if (pass_ended_) {
        child_->Restart();
        pass_ended_ = false;
      }
      if (child_->Next(token, payload)) {
        given_ = passes_;
        pass_has_elements_ = true;
        return true;
      }
      // Without a count, repeating an empty child would never end, so an empty pass ends the stage. With a count, a
      // later pass may be empty by chance and the next one is tried.
      if (!pass_has_elements_ && (count_ < 0 || passes_ == 0)) return false;
      ++passes_;
      pass_ended_ = true;
      pass_has_elements_ = false;
    }
  }
  void Restart() override {
    child_->Restart();
    passes_ = given_ = 0;
    pass_ended_ = pass_has_elements_ = false;
  }
  PassRange passes() const override { return {given_, given_}; }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(passes_);
    writer->Write(pass_ended_);
    writer->Write(pass_has_elements_);
  }
  bool Restore(StateReader* reader) override {
    if (!child_->Restore(reader) || !reader->Read(&passes_, 0, INT64_MAX)) return false;
    given_ = passes_;
    return reader->Read(&pass_ended_) && reader->Read(&pass_has_elements_);
  }

 private:
  const std::unique_ptr<TokenIterator> child_;
  const int64_t count_;
  int64_t passes_ = 0;  // number of passes that have ended
  int64_t given_ = 0;   // number of the pass that the last token belongs to
  bool pass_ended_ = false;
  bool pass_has_elements_ = false;
};

class RepeatNode : public OrderNode {
 public:
  RepeatNode(NodePtr child, NodeInfo info, int64_t count)
      : OrderNode(std::move(child), std::move(info)), count_(count) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<RepeatIterator>(child_->MakeTokens(), count_);
  }
  // The count is no part of the signature, because resuming a training with more epochs than planned is normal.
  std::string Signature(bool batch_sizes) const override {
    return absl::StrCat(child_->Signature(batch_sizes), " | repeat");
  }

 private:
  const int64_t count_;
};

}  // namespace

absl::StatusOr<NodePtr> MakeRepeat(NodePtr child, int64_t count) {
  if (count < -1) {
    return absl::InvalidArgumentError(absl::StrCat("the count must be >= 0, or -1 for ever, got ", count));
  }
  NodeInfo info = child->info();
  AddCacheSettings(absl::StrCat("repeat(", count, ")"), &info);
  info.repeats = true;
  int64_t n = info.cardinality;
  if (n != kInfiniteCardinality) info.epoch = {.elements = n};
  if (count == 0 || n == 0) {
    info.cardinality = 0;
  } else if (n == kUnknownCardinality) {
    info.cardinality = count < 0 ? kInfiniteCardinality : n;
  } else if (count < 0 || n == kInfiniteCardinality || n > INT64_MAX / count) {
    info.cardinality = kInfiniteCardinality;
  } else {
    info.cardinality = n * count;
  }
  return NodePtr(std::make_shared<RepeatNode>(std::move(child), std::move(info), count));
}

}  // namespace tandem::data_internal
