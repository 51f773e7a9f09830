#include "tools/scale/step_model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/commands/command.h"
#include "runtime/step_info.h"

namespace tandem {

absl::StatusOr<StepModel> MakeStepModel(const Executable& executable, const StepSeconds& times, bool overlap) {
  const std::vector<StepInfo> steps = ListSteps(executable);
  if (times.seconds.size() != steps.size()) {
    return absl::InternalError(absl::StrCat(times.seconds.size(), " times for ", steps.size(), " steps"));
  }
  size_t first_collective = steps.size(), last_collective = 0, last_map = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].map) last_map = i;
    if (steps[i].step == nullptr || !NewCommand(*steps[i].step)->collective().has_value()) continue;
    first_collective = std::min(first_collective, i);
    last_collective = i;
  }
  if (first_collective == steps.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        executable.name(), " has no collectives: compile it for at least two devices (--devices=cpu:0,cpu:1)"));
  }

  StepModel model;
  std::map<uint32_t, double> ready;  // by buffer
  double clock = 0;                  // end of the step before
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepInfo& info = steps[i];
    if (info.step == nullptr) {  // LaneSum: part of every shard but the first
      clock += times.seconds[i];
      continue;
    }
    const fb::StepT& step = *info.step;
    if (const std::optional<CollectiveUse> use = NewCommand(step)->collective()) {
      const fb::CollectiveT& collective = *executable.index().collectives[use->number];
      Bucket bucket;
      bucket.seq = static_cast<int>(collective.seq);
      bucket.name = absl::StrCat("bucket ", collective.bucket, " (", collective.tensors.size(), " tensors, ",
                                 collective.tensors.empty() ? step.name : collective.tensors.front(), " ...)");
      bucket.bytes = static_cast<double>(collective.bytes);
      bucket.blocking = i < last_map;
      for (uint32_t b : step.inputs) {
        auto it = ready.find(b);
        bucket.ready = std::max(bucket.ready, it == ready.end() ? 0 : it->second);
      }
      model.buckets.push_back(std::move(bucket));
      continue;
    }
    clock += times.seconds[i];
    if (i > last_collective) {
      model.tail += times.seconds[i];
      continue;
    }
    double done = clock;
    if (!info.map) {
      // A reduction over lanes can begin as soon as its operands are there.
      double inputs = 0;
      bool known = true;
      for (uint32_t b : step.inputs) {
        auto it = ready.find(b);
        known &= it != ready.end();
        if (it != ready.end()) inputs = std::max(inputs, it->second);
      }
      if (known) done = inputs + times.seconds[i];
    } else {
      // Until the last shard has passed this step all others have too. What is left of the section is the rest of
      // that shard.
      double rest = 0;
      for (size_t k = i + 1; k < steps.size() && steps[k].section == info.section && steps[k].map; ++k) {
        rest += times.seconds[k];
      }
      done = clock + rest - rest / std::max(1.0, times.shards);
    }
    for (uint32_t b : step.outputs) ready[b] = done;
  }
  model.compute = clock - model.tail;
  std::stable_sort(model.buckets.begin(), model.buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.seq < b.seq; });
  for (Bucket& b : model.buckets) {
    b.ready = overlap || b.blocking ? std::min(b.ready, model.compute) : model.compute;
  }
  return model;
}

}  // namespace tandem
