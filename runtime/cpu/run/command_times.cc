#include "runtime/cpu/run/command_times.h"

#include <utility>

#include "runtime/executable/command_info.h"

namespace tandem {

std::vector<CommandTime> SumCommandTimes(const Executable& executable, const StepState& state) {
  std::vector<CommandTime> result;
  for (const CommandInfo& command : ListCommands(executable)) {
    CommandTime time;
    time.id = command.id;
    time.section = command.map ? "map" : "global";
    time.kind = command.kind;
    time.name = command.name;
    time.detail = command.detail;
    for (const ThreadState& thread : state.threads) {
      if (thread.times.empty()) continue;
      time.seconds += 1e-9 * static_cast<double>(thread.times[command.id].nanoseconds);
      time.calls += thread.times[command.id].calls;
    }
    if (time.calls > 0) result.push_back(std::move(time));
  }
  return result;
}

}  // namespace tandem
