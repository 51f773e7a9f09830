#include "data/measured_node.h"

#include <utility>

#include "data/stage_times.h"

namespace tandem::data_internal {
namespace {

// Wraps a TokenIterator that is expensive to draw from, and measures the time of its draws.
class MeasuredTokens : public TokenIterator {
 public:
  MeasuredTokens(std::unique_ptr<TokenIterator> tokens, StageTimes* times)
      : tokens_(std::move(tokens)), times_(times) {}

  bool Next(int64_t* token, PayloadPtr* payload) override {
    if (sampling.weight == 0) return tokens_->Next(token, payload);
    const ScopedStage stage(times_, /*drawing=*/true);
    return tokens_->Next(token, payload);
  }
  bool Advance(int64_t n, int64_t* scratch) override {
    if (sampling.weight == 0) return tokens_->Advance(n, scratch);
    const ScopedStage stage(times_, /*drawing=*/true);
    return tokens_->Advance(n, scratch);
  }
  void Restart() override { tokens_->Restart(); }
  PassRange passes() const override { return tokens_->passes(); }
  void Save(StateWriter* writer) const override { tokens_->Save(writer); }
  bool Restore(StateReader* reader) override { return tokens_->Restore(reader); }

 private:
  const std::unique_ptr<TokenIterator> tokens_;
  StageTimes* const times_;
};

class MeasuredNode : public OrderNode {
 public:
  MeasuredNode(NodePtr node, NodeInfo info, StageTimes* times)
      : OrderNode(std::move(node), std::move(info)), times_(times) {}

  std::unique_ptr<TokenIterator> MakeTokens() const override {
    std::unique_ptr<TokenIterator> tokens = child_->MakeTokens();
    if (!info().costly_order || !child_->makes_order()) return tokens;
    return std::make_unique<MeasuredTokens>(std::move(tokens), times_);
  }
  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (sampling.weight == 0) return child_->Materialize(token, payload, out);
    const ScopedStage stage(times_, /*drawing=*/false);
    return child_->Materialize(token, payload, out);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count,
                               SourceLocation location, Element* out) const override {
    if (sampling.weight == 0) return child_->MaterializeRows(tokens, payloads, count, location, out);
    const ScopedStage stage(times_, /*drawing=*/false);
    return child_->MaterializeRows(tokens, payloads, count, location, out);
  }
  absl::Status MaterializeRange(const int64_t* token, const Payload* payload, int64_t first, int64_t count,
                                Element* out) const override {
    if (sampling.weight == 0) return child_->MaterializeRange(token, payload, first, count, out);
    const ScopedStage stage(times_, /*drawing=*/false);
    return child_->MaterializeRange(token, payload, first, count, out);
  }
  std::string Signature(bool batch_sizes) const override { return child_->Signature(batch_sizes); }

 private:
  StageTimes* const times_;  // owned by info().stages
};

}  // namespace

NodePtr Measured(NodePtr node, const char* op, SourceLocation location) {
  NodeInfo info = node->info();
  const bool is_source = info.stages.empty();
  info.stages.push_back(std::make_shared<StageTimes>(op, location));
  if (is_source) info.sources = info.stages;
  StageTimes* const times = info.stages.back().get();
  return std::make_shared<MeasuredNode>(std::move(node), std::move(info), times);
}

}  // namespace tandem::data_internal
