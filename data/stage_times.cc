#include "data/stage_times.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tandem::data_internal {
namespace {

// The first kAll elements are measured, and afterwards on average one of kRate. An element may be a large batch, and
// measuring each of its rows in each stage would take about as long as reading it.
constexpr int64_t kAll = 16, kRate = 64;

}  // namespace

std::string StageText(const StageTimes& stage) {
  return absl::StrCat(stage.name, " (", stage.location.file, ":", stage.location.line, ")");
}

int64_t SampleWeight(int64_t n) {
  if (n < kAll) return 1;
  // The choice is pseudo-random: exactly every kRate-th element might always be the last batch of an epoch, for
  // example.
  const uint64_t mixed = (static_cast<uint64_t>(n) * 0x9e3779b97f4a7c15u) >> 40;
  return mixed % kRate == 0 ? kRate : 0;
}

ScopedStage::~ScopedStage() {
  const int64_t total = NowNanoseconds() - begin_, busy = std::max<int64_t>(total - sampling.inner, 0);
  sampling.inner = outer_ + total;
  const std::shared_ptr<StageTimes> sink = times_->has_sink.load() ? times_->sink.load() : nullptr;
  StageTimes& times = sink == nullptr ? *times_ : *sink;
  times.total += sampling.weight * total;
  times.busy += sampling.weight * busy;
  if (drawing_) times.drawing += sampling.weight * busy;
}

void SendTimes(const StageList& stages, const StageList& to) {
  if (stages.size() != to.size()) return;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i] == to[i]) continue;
    stages[i]->sink = to[i];
    stages[i]->has_sink = true;
  }
}

void AddStages(const StageList& more, StageList* stages) {
  for (const std::shared_ptr<StageTimes>& stage : more) {
    if (std::find(stages->begin(), stages->end(), stage) == stages->end()) stages->push_back(stage);
  }
}

}  // namespace tandem::data_internal
