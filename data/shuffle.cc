// Shuffle: keeps a buffer of the next elements, and yields one of them at random (uniformly). The buffer holds tokens,
// from which elements are made when they leave the buffer.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/philox.h"
#include "base/status_macros.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// 16 GiB for tokens of one number, at 8 bytes each: far more than is useful.
constexpr int64_t kMaxBufferSize = int64_t{1} << 31;
// The most bytes of small records that a buffer holds to avoid reading them again. Of further records it holds only the
// places in their files.
constexpr int64_t kMaxReadAhead = 64 << 20;

struct ShuffleConfig {
  int64_t buffer_size = 1;
  ShuffleOptions options;
  int stage = 0;  // number of this Shuffle among those of the pipeline
};

class ShuffleIterator : public TokenIterator {
 public:
  ShuffleIterator(const Node& child, const ShuffleConfig& config)
      : node_(child), child_(child.MakeTokens()), config_(config), width_(child.token_width()) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (std::exchange(restored_, false)) child_ended_ = false;
    while (!child_ended_ && size_ < config_.buffer_size) {
      buffer_.resize((size_ + 1) * width_);
      PayloadPtr read;
      if (child_->Next(At(size_), node_.info().has_payloads ? &read : nullptr)) {
        if (node_.info().has_payloads) {
          payloads_.resize(size_ + 1);
          if (read != nullptr) payloads_[size_] = read->ForBuffer(read, kMaxReadAhead - read_ahead_);
          if (payloads_[size_] != nullptr) read_ahead_ += payloads_[size_]->bytes_in_buffer();
        }
        ++size_;
      } else {
        child_ended_ = true;
      }
    }
    if (size_ == 0) return false;
    const int64_t chosen = Draw(size_);
    int64_t* pick = At(chosen);
    std::copy_n(pick, width_, token);
    --size_;
    std::copy_n(At(size_), width_, pick);
    if (!payloads_.empty()) {
      PayloadPtr kept = std::move(payloads_[chosen]);
      payloads_[chosen] = std::move(payloads_[size_]);
      payloads_.pop_back();
      if (kept != nullptr) read_ahead_ -= kept->bytes_in_buffer();
      if (payload != nullptr) *payload = std::move(kept);
    }
    return true;
  }

  void Restart() override {
    child_->Restart();
    child_ended_ = false;
    restored_ = false;
    size_ = 0;
    payloads_.clear();
    read_ahead_ = 0;
    draw_ = 0;
    if (config_.options.reshuffle_each_iteration) ++epoch_;
  }
  PassRange passes() const override { return child_->passes(); }

  void Save(StateWriter* writer) const override {
    child_->Save(writer);
    writer->Write(child_ended_);
    writer->Write(epoch_);
    writer->Write(draw_);
    writer->Write(size_);
    for (int64_t i = 0; i < size_ * width_; ++i) writer->Write(buffer_[i]);
  }

  bool Restore(StateReader* reader) override {
    if (!child_->Restore(reader) || !reader->Read(&child_ended_) || !reader->Read(&epoch_, 0, UINT32_MAX) ||
        !reader->Read(&draw_) || !reader->Read(&size_, 0, config_.buffer_size)) {
      return false;
    }
    if (size_ > reader->remaining() / width_) return false;
    buffer_.resize(size_ * width_);
    for (int64_t& v : buffer_) {
      if (!reader->Read(&v, 0, INT64_MAX)) return false;
    }
    restored_ = true;
    if (node_.info().has_payloads) payloads_.assign(size_, nullptr);
    read_ahead_ = 0;
    for (int64_t i = 0; i < size_; ++i) {
      if (!node_.ValidToken(At(i))) return false;
    }
    return true;
  }

 private:
  int64_t* At(int64_t i) { return buffer_.data() + i * width_; }

  // Returns a number uniform in [0, n), up to a bias of n / 2^64. It depends only on seed, stage, epoch and the number
  // of draws.
  int64_t Draw(int64_t n) {
    uint64_t seed = config_.options.seed;
    PhiloxCounter words = Philox4x32({static_cast<uint32_t>(draw_), static_cast<uint32_t>(draw_ >> 32),
                                      static_cast<uint32_t>(epoch_), static_cast<uint32_t>(config_.stage)},
                                     {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    ++draw_;
    uint64_t word = uint64_t{words[0]} << 32 | words[1];
    return static_cast<int64_t>(static_cast<unsigned __int128>(word) * static_cast<uint64_t>(n) >> 64);
  }

  const Node& node_;
  const std::unique_ptr<TokenIterator> child_;
  const ShuffleConfig config_;
  const int64_t width_;
  std::vector<int64_t> buffer_;       // contains size_ tokens
  std::vector<PayloadPtr> payloads_;  // one for each token, null where none is kept; empty if tokens have no payloads
  int64_t size_ = 0;
  int64_t read_ahead_ = 0;  // bytes of data in payloads_ that could be read again
  bool child_ended_ = false;
  // The state was just restored: the child may now have more epochs, so its end is checked again.
  bool restored_ = false;
  uint64_t epoch_ = 0;
  uint64_t draw_ = 0;
};

class ShuffleNode : public OrderNode {
 public:
  ShuffleNode(NodePtr child, NodeInfo info, ShuffleConfig config)
      : OrderNode(std::move(child), std::move(info)), config_(config) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<ShuffleIterator>(*child_, config_);
  }
  std::string Signature(bool) const override {
    return absl::StrCat(child_->Signature(/*batch_sizes=*/true), " | shuffle(", config_.buffer_size,
                        ", seed=", config_.options.seed,
                        config_.options.reshuffle_each_iteration ? "" : ", same order each epoch", ")");
  }

 private:
  const ShuffleConfig config_;
};

}  // namespace

absl::StatusOr<NodePtr> MakeShuffle(NodePtr child, int64_t buffer_size, ShuffleOptions options) {
  if (buffer_size < 1 || buffer_size > kMaxBufferSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("the buffer size must be between 1 and ", kMaxBufferSize, ", got ", buffer_size));
  }
  TD_RETURN_IF_ERROR(CheckKeepsTokens(*child));
  NodeInfo info = child->info();
  ShuffleConfig config{buffer_size, options, info.shuffles};
  ++info.shuffles;
  return NodePtr(std::make_shared<ShuffleNode>(std::move(child), std::move(info), config));
}

}  // namespace tandem::data_internal
