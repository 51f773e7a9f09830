#include "data/stage_times.h"

#include <algorithm>

namespace tandem::data_internal {
namespace {

// So many elements are all looked at, then one of kOften, and later one of kRarely on average.
constexpr int64_t kAll = 64, kOften = 8, kManyElements = 2048, kRarely = 64;

}  // namespace

int64_t SampleWeight(int64_t n) {
  if (n < kAll) return 1;
  const int64_t rate = n < kManyElements ? kOften : kRarely;
  // Not every `rate`-th, which may always be the last batch of something.
  const uint64_t mixed = (static_cast<uint64_t>(n) * 0x9e3779b97f4a7c15u) >> 40;
  return mixed % static_cast<uint64_t>(rate) == 0 ? rate : 0;
}

ScopedStage::~ScopedStage() {
  const int64_t total = NowNanoseconds() - begin_, busy = std::max<int64_t>(total - sampling.inner, 0);
  sampling.inner = outer_ + total;
  const std::shared_ptr<StageTimes> sink = times_->sink.load();
  StageTimes& times = sink == nullptr ? *times_ : *sink;
  times.total += sampling.weight * total;
  times.busy += sampling.weight * busy;
  if (drawing_) times.drawing += sampling.weight * busy;
}

void SendTimes(const StageList& stages, const StageList& to) {
  if (stages.size() != to.size()) return;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i] != to[i]) stages[i]->sink = to[i];
  }
}

void AddStages(const StageList& more, StageList* stages) {
  for (const std::shared_ptr<StageTimes>& stage : more) {
    if (std::find(stages->begin(), stages->end(), stage) == stages->end()) stages->push_back(stage);
  }
}

}  // namespace tandem::data_internal
