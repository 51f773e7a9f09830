#include "runtime/cpu/step_times.h"

#include <utility>

#include "runtime/step_info.h"

namespace tandem {

std::vector<StepTime> SumStepTimes(const Executable& executable, const StepState& state) {
  std::vector<StepTime> result;
  for (const StepInfo& step : ListSteps(executable)) {
    StepTime time;
    time.id = step.id;
    time.section = step.map ? "map" : "global";
    time.kind = step.kind;
    time.name = step.name;
    time.detail = step.detail;
    for (const ThreadState& thread : state.threads) {
      if (thread.times.empty()) continue;
      time.seconds += 1e-9 * static_cast<double>(thread.times[step.id].nanoseconds);
      time.calls += thread.times[step.id].calls;
    }
    if (time.calls > 0) result.push_back(std::move(time));
  }
  return result;
}

}  // namespace tandem
