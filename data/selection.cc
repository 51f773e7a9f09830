// The stages that select a part of the elements: Shard, Take, Skip.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// Elements offset, offset + stride, ... of the child, at most `limit` of them: describes Shard, Skip and Take.
struct Selection {
  int64_t offset = 0;
  int64_t stride = 1;
  int64_t limit = INT64_MAX;
};

class SelectionIterator : public TokenIterator {
 public:
  SelectionIterator(std::unique_ptr<TokenIterator> child, Selection selection)
      : child_(std::move(child)), selection_(selection) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (taken_ >= selection_.limit) return false;
    int64_t gap = started_ ? selection_.stride - 1 : selection_.offset;
    started_ = true;
    if ((gap > 0 && !child_->Advance(gap, token)) || !child_->Next(token, payload)) return false;
    ++taken_;
    return true;
  }
  void Restart() override {
    child_->Restart();
    started_ = false;
    taken_ = 0;
  }
  PassRange passes() const override { return child_->passes(); }
  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(started_);
    writer->Write(taken_);
  }
  bool Restore(StateReader* reader) override {
    return child_->Restore(reader) && reader->Read(&started_) && reader->Read(&taken_, 0, selection_.limit);
  }

 private:
  const std::unique_ptr<TokenIterator> child_;
  const Selection selection_;
  bool started_ = false;
  int64_t taken_ = 0;
};

class SelectionNode : public OrderNode {
 public:
  SelectionNode(NodePtr child, NodeInfo info, Selection selection, std::string name)
      : OrderNode(std::move(child), std::move(info)), selection_(selection), name_(std::move(name)) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<SelectionIterator>(child_->MakeTokens(), selection_);
  }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | ", name_);
  }

 private:
  const Selection selection_;
  const std::string name_;
};

NodePtr Select(NodePtr child, Selection selection, std::string name) {
  NodeInfo info = child->info();
  int64_t n = info.cardinality;
  ShortenEpoch(&info, selection.stride);
  if (n == kUnknownCardinality) {
    if (selection.limit == 0) info.cardinality = 0;
  } else if (n != kInfiniteCardinality) {
    n = n <= selection.offset ? 0 : (n - selection.offset - 1) / selection.stride + 1;
    info.cardinality = std::min(n, selection.limit);
  } else if (selection.limit != INT64_MAX) {
    info.cardinality = selection.limit;
  }
  return std::make_shared<SelectionNode>(std::move(child), std::move(info), selection, std::move(name));
}

}  // namespace

absl::StatusOr<NodePtr> MakeShard(NodePtr child, int64_t num_shards, int64_t index) {
  if (num_shards < 1) {
    return absl::InvalidArgumentError(absl::StrCat("the number of shards must be at least 1, got ", num_shards));
  }
  if (index < 0 || index >= num_shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("the index must be in [0, ", num_shards, ") for ", num_shards, " shards, got ", index));
  }
  return Select(std::move(child), {.offset = index, .stride = num_shards},
                absl::StrCat("shard(", num_shards, ", ", index, ")"));
}

absl::StatusOr<NodePtr> MakeTake(NodePtr child, int64_t count) {
  if (count < -1) return absl::InvalidArgumentError(absl::StrCat("the count must be >= 0, or -1 for all, got ", count));
  return Select(std::move(child), {.limit = count < 0 ? INT64_MAX : count}, absl::StrCat("take(", count, ")"));
}

absl::StatusOr<NodePtr> MakeSkip(NodePtr child, int64_t count) {
  if (count < -1) return absl::InvalidArgumentError(absl::StrCat("the count must be >= 0, or -1 for all, got ", count));
  // A count of -1 skips all elements. It is expressed as taking none, because an infinite child must not be searched
  // for its end.
  Selection selection = {.offset = std::max<int64_t>(count, 0), .limit = count < 0 ? 0 : INT64_MAX};
  return Select(std::move(child), selection, absl::StrCat("skip(", count, ")"));
}

}  // namespace tandem::data_internal
