#include "tools/scale/step_model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/commands/command.h"
#include "runtime/executable/command_info.h"

namespace tandem {

absl::StatusOr<StepModel> MakeStepModel(const Executable& executable, const CommandSeconds& times, bool overlap) {
  const std::vector<CommandInfo> commands = ListCommands(executable);
  if (times.seconds.size() != commands.size()) {
    return absl::InternalError(absl::StrCat(times.seconds.size(), " times for ", commands.size(), " commands"));
  }
  size_t first_collective = commands.size(), last_collective = 0, last_map = 0;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].map) last_map = i;
    if (commands[i].table == nullptr || !NewCommand(*commands[i].table)->collective().has_value()) continue;
    first_collective = std::min(first_collective, i);
    last_collective = i;
  }
  if (first_collective == commands.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        executable.name(), " has no collectives: compile it for at least two devices (--devices=cpu:0,cpu:1)"));
  }

  StepModel model;
  std::map<uint32_t, double> ready;  // for each buffer, the time in the step at which it is ready
  double clock = 0;                  // time at which the previous command ends
  for (size_t i = 0; i < commands.size(); ++i) {
    const CommandInfo& info = commands[i];
    // LaneSum adds a microbatch's results to those of its lane (its part of the batch). It follows every microbatch but
    // the first, and is no command of the executable.
    if (info.table == nullptr) {
      clock += times.seconds[i];
      continue;
    }
    const format::Command& table = *info.table;
    if (const std::optional<CollectiveUse> use = NewCommand(table)->collective()) {
      const format::Collective& collective = executable.index().collectives[use->number];
      Bucket bucket;
      bucket.seq = static_cast<int>(collective.seq);
      bucket.name = absl::StrCat("bucket ", collective.bucket, " (", collective.tensors.size(), " tensors, ",
                                 collective.tensors.empty() ? table.name : collective.tensors.front(), " ...)");
      bucket.bytes = static_cast<double>(collective.bytes);
      bucket.blocking = i < last_map;
      for (uint32_t b : table.inputs) {
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
      // A reduction over lanes can begin as soon as its operands are ready.
      double inputs = 0;
      bool known = true;
      for (uint32_t b : table.inputs) {
        auto it = ready.find(b);
        known &= it != ready.end();
        if (it != ready.end()) inputs = std::max(inputs, it->second);
      }
      if (known) done = inputs + times.seconds[i];
    } else {
      // The command's result is complete when the last microbatch has passed the command. At that time, what is left of
      // the section is the remaining commands of this last microbatch.
      double rest = 0;
      for (size_t k = i + 1; k < commands.size() && commands[k].section == info.section && commands[k].map; ++k) {
        rest += times.seconds[k];
      }
      done = clock + rest - rest / std::max(1.0, times.microbatches);
    }
    for (uint32_t b : table.outputs) ready[b] = done;
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
