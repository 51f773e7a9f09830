// Cache: keeps the elements of the first pass in memory or in a file. A token (the name from which an element can be
// made) is the element's number and its token in the first pass. So the saved position is a number: it does not depend
// on what the stages before do in later passes, nor on whether the elements come from these stages, from memory or from
// a file.
#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/out_of_memory.h"
#include "base/status_macros.h"
#include "data/element_store.h"
#include "data/file_shard.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// The tokens of the first pass, which are drawn once for all iterators, and flags that say which of its elements were
// made.
class FirstPass {
 public:
  explicit FirstPass(NodePtr child) : child_(std::move(child)), width_(child_->token_width()) {}

  // Sets the tokens of a complete pass, which a cache file has recorded.
  void Set(const std::vector<int64_t>& tokens, int64_t count) {
    tokens_.assign(tokens.begin(), tokens.end());
    drawn_ = count;
    ended_ = finished_ = true;
  }

  // Writes token number `i`, and returns false if the pass has no more than `i` elements.
  bool Token(int64_t i, int64_t* token, PayloadPtr* payload) {
    std::lock_guard<std::mutex> draw(draw_mutex_);
    std::unique_lock<std::mutex> lock(mutex_);
    std::vector<int64_t> next(width_);
    while (drawn_ <= i && !ended_) {
      // Only the requested element is made right after this call, so the payloads (data that was read ahead) of the
      // tokens before it would be wasted.
      const bool wanted = payload != nullptr && drawn_ == i && child_->info().has_payloads;
      lock.unlock();
      // order_ is null if the last draw threw for lack of memory, maybe after it had consumed a token. Then the order
      // is drawn again from its beginning.
      std::unique_ptr<TokenIterator> order = order_ != nullptr ? std::move(order_) : OrderBehind(drawn_);
      const bool more = order->Next(next.data(), wanted ? payload : nullptr);
      lock.lock();
      if (more) tokens_.insert(tokens_.end(), next.begin(), next.end());
      order_ = std::move(order);
      ended_ = !more;
      if (!more) break;
      ++drawn_;
    }
    if (i >= drawn_) return false;
    std::copy_n(tokens_.begin() + i * width_, width_, token);
    return true;
  }

  // Returns true if the token is token number `i` of the pass. A token from a saved state may belong to an element that
  // was not drawn yet, or be wrong.
  bool Has(int64_t i, const int64_t* token) {
    std::lock_guard<std::mutex> lock(mutex_);
    return i < drawn_ && std::equal(token, token + width_, tokens_.begin() + i * width_);
  }
  // Records that element `i`, which was drawn, has been made or turned out to be an error.
  void SetMade(int64_t i) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (i >= static_cast<int64_t>(made_.size())) made_.resize(i + 1);
    count_ += !made_[i];
    made_[i] = true;
  }
  // Returns true once, when all elements are drawn and made, and stores their number and tokens.
  bool TakeFinished(int64_t* count, std::vector<int64_t>* tokens) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (finished_ || !ended_ || count_ < drawn_) return false;
    finished_ = true;
    *count = drawn_;
    tokens->assign(tokens_.begin(), tokens_.end());
    return true;
  }

 private:
  // Returns an iterator over the tokens of the first pass, from which the first `count` tokens were drawn already.
  std::unique_ptr<TokenIterator> OrderBehind(int64_t count) const {
    std::unique_ptr<TokenIterator> order = child_->MakeTokens();
    std::vector<int64_t> token(width_);
    for (int64_t i = 0; i < count && order->Next(token.data(), nullptr); ++i) {
    }
    return order;
  }

  const NodePtr child_;
  const int64_t width_;
  std::mutex draw_mutex_;                 // guards calls of order_, which may take long; locked before mutex_
  std::unique_ptr<TokenIterator> order_;  // null before the first draw, and after a draw that threw
  std::mutex mutex_;
  std::deque<int64_t> tokens_;  // the tokens of all drawn elements, concatenated
  int64_t drawn_ = 0;
  bool ended_ = false;
  std::vector<bool> made_;  // indexed by the element's number
  int64_t count_ = 0;       // number of elements made
  bool finished_ = false;
};

class CacheNode : public Node {
 public:
  CacheNode(NodePtr child, NodeInfo info, std::unique_ptr<ElementStore> store, SourceLocation location)
      : Node(std::move(info)), child_(child), pass_(std::move(child)), store_(std::move(store)), location_(location) {}

  FirstPass& pass() const { return pass_; }

  // Writes token number `i` of the first pass, and returns false if the pass has no more than `i` elements.
  bool Token(int64_t i, int64_t* token, PayloadPtr* payload) const {
    token[0] = i;
    if (pass_.Token(i, token + 1, payload)) return true;
    // If the last element was made before the end of the pass was seen, the store has not been finished yet.
    if (absl::Status status = FinishStore(); !status.ok()) TD_LOG(ERROR) << status.message();
    return false;
  }

  std::unique_ptr<TokenIterator> MakeTokens() const override;
  bool ValidToken(const int64_t* token) const override { return token[0] >= 0 && child_->ValidToken(token + 1); }
  std::string Describe(const int64_t* token) const override { return child_->Describe(token + 1); }
  std::string DescribeRow(const int64_t* token, int64_t row) const override {
    return child_->DescribeRow(token + 1, row);
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    const int64_t i = token[0];
    absl::StatusOr<bool> found = pass_.Has(i, token + 1) ? store_->Get(i, out) : false;
    if (!found.ok()) return Annotate(found.status(), "Cache", location_);
    if (*found) return absl::OkStatus();
    const absl::Status status = child_->Materialize(token + 1, payload, out);
    if (!pass_.Has(i, token + 1)) return status;
    // Errors are not cached. An element that failed only for lack of memory does not count as done, so that a later
    // call makes it.
    if (IsOutOfMemory(status)) return status;
    if (status.ok()) TD_RETURN_IF_ERROR(Annotate(store_->Put(i, *out), "Cache", location_));
    pass_.SetMade(i);
    TD_RETURN_IF_ERROR(FinishStore());
    return status;
  }
  Parallelism parallelism() const override { return child_->parallelism(); }
  std::string Fingerprint() const override { return child_->Fingerprint(); }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | cache");
  }

 private:
  absl::Status FinishStore() const {
    int64_t count = 0;
    std::vector<int64_t> tokens;
    if (!pass_.TakeFinished(&count, &tokens)) return absl::OkStatus();
    return Annotate(store_->Finish(count, tokens), "Cache", location_);
  }

  const NodePtr child_;
  mutable FirstPass pass_;
  const std::unique_ptr<ElementStore> store_;
  const SourceLocation location_;
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

absl::StatusOr<NodePtr> MakeCache(NodePtr child, const CacheOptions& options, SourceLocation location) {
  NodeInfo info = child->info();
  if (info.cardinality == kInfiniteCardinality) {
    return absl::InvalidArgumentError("the dataset has no end, so it cannot be kept; put Cache before Repeat");
  }
  TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  const int64_t width = info.token_width++;
  info.repeats = false;  // cached elements do not record which pass of an earlier Repeat they belong to
  std::unique_ptr<ElementStore> store = MakeMemoryStore();
  std::unique_ptr<CacheFile> file;
  const std::string path = options.file.empty() ? "" : PathOfShard(options.file);
  Env* const env = options.env != nullptr ? options.env : Env::Default();
  if (!path.empty()) {
    const std::string& settings = info.cache_settings;
    const std::string stages =
        absl::StrCat(child->Signature(/*batch_sizes=*/true), settings.empty() ? "" : "; ", settings);
    const CacheIdentity identity = {stages, child->Fingerprint()};
    absl::StatusOr<std::unique_ptr<CacheFile>> opened = CacheFile::Open(path, identity, width, env);
    if (!opened.ok() && !absl::IsNotFound(opened.status())) return opened.status();
    if (opened.ok()) file = *std::move(opened);
    if (file == nullptr) store = MakeWritingStore(path, identity, width, env);
  }
  std::vector<int64_t> tokens;
  int64_t count = 0;
  const bool complete = file != nullptr;
  if (complete) {
    tokens = file->tokens();
    count = file->entries();
    for (int64_t i = 0; i < count; ++i) {
      if (child->ValidToken(tokens.data() + i * width)) continue;
      return absl::DataLossError(absl::StrCat(path, ": the token of entry ", i, " is wrong; delete the cache"));
    }
    store = MakeFileStore(std::move(file), info.spec);
  }
  auto node = std::make_shared<CacheNode>(std::move(child), std::move(info), std::move(store), location);
  if (complete) node->pass().Set(tokens, count);
  return NodePtr(std::move(node));
}

}  // namespace tandem::data_internal
