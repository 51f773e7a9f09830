#include "runtime/cpu/run/global_commands.h"

#include <algorithm>
#include <deque>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

void RunTask(const CpuCommand& command, GlobalRun& run, int device, int task, int thread) {
  run.ForPieces(device, task, thread, [&](const Piece& piece) { command.RunPiece(run, device, piece, thread); });
}

}  // namespace

int DevicesThatRun(const StepState& state, const CpuCommand& command) {
  return state.one_copy && command.writes_variables ? 1 : static_cast<int>(state.devices.size());
}

absl::Status RunTasks(GlobalRun& run, const CpuCommand& command, ThreadPool& pool) {
  const StepState& state = run.state;
  const bool at_once = command.is_for_all_devices(), alone = at_once && state.devices.size() == 1;
  command.Begin(run, pool);
  const int64_t device_tasks = run.device_tasks();
  const int64_t tasks = alone ? 0 : device_tasks * (at_once ? 1 : DevicesThatRun(state, command));
  auto task = [&](int64_t i, int thread) {
    RunTask(command, run, static_cast<int>(i / device_tasks), static_cast<int>(i % device_tasks), thread);
  };
  if (command.table().run_inline) {
    // A loop of one task provides a thread index and sets OpenMP to one thread, but wakes no other thread.
    pool.ParallelFor(1, [&](int64_t, int thread) {
      for (int64_t i = 0; i < tasks; ++i) task(i, thread);
    });
  } else {
    pool.ParallelFor(tasks, task);
  }
  return run.status();
}

absl::StatusOr<bool> RunGlobalCommand(const StepState& state, const CpuCommand& command, ThreadPool& pool,
                                      bool others) {
  if (command.is_for_all_devices() && state.devices.size() == 1 && state.group == nullptr) return true;
  GlobalRun run(state, others && command.others ? *command.others : command.work, command.id);
  TD_RETURN_IF_ERROR(RunTasks(run, command, pool));
  if (command.has_end(state)) {
    TD_RETURN_IF_ERROR(run.ForAll(state.threads[0].records, [&]() -> absl::Status {
      TD_RETURN_IF_ERROR(command.Exchange(run));
      return command.End(run, pool);
    }));
  }
  return run.finite();
}

absl::Status RunTogether(const StepState& state, absl::Span<const std::unique_ptr<CpuCommand>> commands,
                         ThreadPool& pool) {
  std::deque<GlobalRun> runs;
  // for each command: the number of its first task, among the tasks of one device
  absl::InlinedVector<int64_t, 16> first = {0};
  for (const std::unique_ptr<CpuCommand>& command : commands) {
    runs.emplace_back(state, command->work, command->id);
    first.push_back(first.back() + runs.back().device_tasks());
  }
  const int64_t device_tasks = first.back();
  pool.ParallelFor(static_cast<int64_t>(state.devices.size()) * device_tasks, [&](int64_t i, int thread) {
    const int64_t task = i % device_tasks;
    const int64_t c = std::upper_bound(first.begin(), first.end(), task) - first.begin() - 1;
    const auto device = static_cast<int>(i / device_tasks);
    if (device >= DevicesThatRun(state, *commands[c])) return;
    RunTask(*commands[c], runs[c], device, static_cast<int>(task - first[c]), thread);
  });
  for (size_t c = 0; c < runs.size(); ++c) {
    if (!runs[c].status().ok()) return Annotate(runs[c].status(), absl::StrCat(commands[c]->table().name, ": "));
  }
  return absl::OkStatus();
}

}  // namespace tandem
