#include "runtime/cuda/step_clock.h"

#include <algorithm>

#include "base/status_macros.h"
#include "runtime/step_info.h"

namespace tandem {

StepClock::StepClock(const Executable& executable, const SegmentPlan& plan,
                     const std::vector<std::unique_ptr<GpuReplica>>& replicas, bool time_steps)
    : executable_(executable),
      plan_(plan),
      replicas_(replicas),
      time_steps_(time_steps),
      clocks_(replicas.size()),
      counts_(plan.steps.size()) {}

absl::Status StepClock::BeginRun() {
  if (!runs()) return absl::OkStatus();
  for (size_t r = 0; r < replicas_.size(); ++r) {
    Replica& clock = clocks_[r];
    GpuReplica& replica = *replicas_[r];
    TD_RETURN_IF_ERROR(replica.device().MakeCurrent());
    if (clock.steps.empty()) {
      clock.steps.resize(plan_.steps.size());
      TD_ASSIGN_OR_RETURN(clock.base, MakeEvent(replica.shared_device(), true));
      for (auto& [begin, end] : clock.steps) {
        TD_ASSIGN_OR_RETURN(begin, MakeEvent(replica.shared_device(), true));
        TD_ASSIGN_OR_RETURN(end, MakeEvent(replica.shared_device(), true));
      }
    }
    clock.issued.clear();
    clock.base_time = TraceNow();
    TD_CU(replica.device().driver(), cuEventRecord(clock.base.get(), replica.stream(fb::Stream::Compute)));
  }
  return absl::OkStatus();
}

absl::Status StepClock::BeginStep(size_t r, uint32_t step, CUstream stream) {
  if (!runs()) return absl::OkStatus();
  TD_CU(replicas_[r]->device().driver(), cuEventRecord(clocks_[r].steps[step].first.get(), stream));
  return absl::OkStatus();
}

absl::Status StepClock::EndStep(size_t r, uint32_t step, CUstream stream) {
  if (!runs()) return absl::OkStatus();
  TD_CU(replicas_[r]->device().driver(), cuEventRecord(clocks_[r].steps[step].second.get(), stream));
  clocks_[r].issued.push_back(step);
  return absl::OkStatus();
}

absl::Status StepClock::EndRun(const std::vector<ReplicaInputs>& inputs) {
  if (!runs()) return absl::OkStatus();
  for (size_t r = 0; r < replicas_.size(); ++r) {
    const Replica& clock = clocks_[r];
    const DriverApi& driver = replicas_[r]->device().driver();
    TD_RETURN_IF_ERROR(replicas_[r]->device().MakeCurrent());
    for (uint32_t step : clock.issued) {
      float begin = 0, end = 0;
      TD_CU(driver, cuEventElapsedTime(&begin, clock.base.get(), clock.steps[step].first.get()));
      TD_CU(driver, cuEventElapsedTime(&end, clock.base.get(), clock.steps[step].second.get()));
      if (trace_ == nullptr) {
        counts_[step].nanoseconds += 1e6 * (end - begin);
        ++counts_[step].calls;
        continue;
      }
      const bool map = plan_.map[step];
      StepRecord record;
      record.id = plan_.ids[step];
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

std::vector<StepTime> StepClock::times() const {
  std::vector<StepTime> result;
  if (!time_steps_) return result;
  const std::vector<StepInfo> infos = ListSteps(executable_);
  for (size_t s = 0; s < counts_.size(); ++s) {
    if (counts_[s].calls == 0) continue;
    const StepInfo& info = infos[plan_.ids[s]];
    StepTime time;
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
