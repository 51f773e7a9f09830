#include "runtime/cuda/run/command_clock.h"

#include <algorithm>

#include "base/status_macros.h"
#include "runtime/executable/command_info.h"

namespace tandem {

CommandClock::CommandClock(const Executable& executable, const SegmentPlan& plan,
                           const std::vector<std::unique_ptr<GpuReplica>>& replicas, bool time_commands)
    : executable_(executable),
      plan_(plan),
      replicas_(replicas),
      time_commands_(time_commands),
      clocks_(replicas.size()),
      counts_(plan.tables.size()) {}

absl::Status CommandClock::BeginRun() {
  if (!runs()) return absl::OkStatus();
  for (size_t r = 0; r < replicas_.size(); ++r) {
    Replica& clock = clocks_[r];
    GpuReplica& replica = *replicas_[r];
    TD_RETURN_IF_ERROR(replica.device().MakeCurrent());
    if (clock.commands.empty()) {
      clock.commands.resize(plan_.tables.size());
      TD_ASSIGN_OR_RETURN(clock.base, MakeEvent(replica.shared_device(), true));
      for (auto& [begin, end] : clock.commands) {
        TD_ASSIGN_OR_RETURN(begin, MakeEvent(replica.shared_device(), true));
        TD_ASSIGN_OR_RETURN(end, MakeEvent(replica.shared_device(), true));
      }
    }
    clock.issued.clear();
    clock.base_time = TraceNow();
    TD_CU(replica.device().driver(), cuEventRecord(clock.base.get(), replica.stream(format::Stream::kCompute)));
  }
  return absl::OkStatus();
}

absl::Status CommandClock::BeginCommand(size_t r, uint32_t command, CUstream stream) {
  if (!runs()) return absl::OkStatus();
  TD_CU(replicas_[r]->device().driver(), cuEventRecord(clocks_[r].commands[command].first.get(), stream));
  return absl::OkStatus();
}

absl::Status CommandClock::EndCommand(size_t r, uint32_t command, CUstream stream) {
  if (!runs()) return absl::OkStatus();
  TD_CU(replicas_[r]->device().driver(), cuEventRecord(clocks_[r].commands[command].second.get(), stream));
  clocks_[r].issued.push_back(command);
  return absl::OkStatus();
}

absl::Status CommandClock::EndRun(const std::vector<ReplicaInputs>& inputs) {
  if (!runs()) return absl::OkStatus();
  for (size_t r = 0; r < replicas_.size(); ++r) {
    const Replica& clock = clocks_[r];
    const DriverApi& driver = replicas_[r]->device().driver();
    TD_RETURN_IF_ERROR(replicas_[r]->device().MakeCurrent());
    for (uint32_t command : clock.issued) {
      float begin = 0, end = 0;
      TD_CU(driver, cuEventElapsedTime(&begin, clock.base.get(), clock.commands[command].first.get()));
      TD_CU(driver, cuEventElapsedTime(&end, clock.base.get(), clock.commands[command].second.get()));
      if (trace_ == nullptr) {
        counts_[command].nanoseconds += 1e6 * (end - begin);
        ++counts_[command].calls;
        continue;
      }
      const bool map = plan_.map[command];
      CommandRecord record;
      record.id = plan_.ids[command];
      record.device = static_cast<int32_t>(r);
      record.lane = map ? 0 : -1;
      record.rows = map ? static_cast<int32_t>(inputs[r].rows) : 0;
      record.begin = clock.base_time + static_cast<int64_t>(1e6 * begin);
      record.end = clock.base_time + static_cast<int64_t>(1e6 * end);
      trace_->threads[r].push_back(record);
    }
  }
  return absl::OkStatus();
}

std::vector<CommandTime> CommandClock::times() const {
  std::vector<CommandTime> result;
  if (!time_commands_) return result;
  const std::vector<CommandInfo> infos = ListCommands(executable_);
  for (size_t s = 0; s < counts_.size(); ++s) {
    if (counts_[s].calls == 0) continue;
    const CommandInfo& info = infos[plan_.ids[s]];
    CommandTime time;
    time.id = info.id;
    time.section = info.map ? "map" : "global";
    time.kind = info.kind;
    time.name = info.name;
    time.detail = info.detail;
    time.seconds = 1e-9 * counts_[s].nanoseconds;
    time.calls = counts_[s].calls;
    result.push_back(std::move(time));
  }
  return result;
}

}  // namespace tandem
