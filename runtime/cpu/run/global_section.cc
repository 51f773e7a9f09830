#include "runtime/cpu/run/global_section.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/cpu/run/block_updates.h"
#include "runtime/cpu/run/buffer_guard.h"
#include "runtime/cpu/run/global_commands.h"
#include "runtime/cpu/run/overlapped_commands.h"

namespace tandem {

absl::StatusOr<bool> RunGlobalSection(const StepState& state, const PlannedSection& section,
                                      CommunicationThread* communication, ThreadPool& pool) {
  const ThreadState& caller = state.threads[0];
  const bool timed = !caller.times.empty() && caller.records == nullptr;
  // Timing and the buffer guard require that commands run one after another.
  const bool one_by_one = timed || state.guard != nullptr;
  OverlappedCommands overlapped(state, one_by_one ? nullptr : communication, pool);
  bool by_blocks = false;  // true if this step applies gradients by blocks of rows (block_updates.h)
  for (size_t i = 0; i < section.commands.size(); ++i) {
    const CpuCommand& command = *section.commands[i];
    const format::Command& table = command.table();
    if (table.invariant && state.invariants_valid) continue;
    // Only one command at a time may exchange values with the other processes of a group.
    const bool talks = state.group != nullptr && command.has_end(state);
    TD_RETURN_IF_ERROR(talks && !overlapped.Takes(command) ? overlapped.EndAll() : overlapped.EndBefore(i));
    if (overlapped.Takes(command)) {
      const absl::Status status = overlapped.Begin(command, i);
      if (!status.ok()) return Annotate(status, absl::StrCat(table.name, ": "));
      continue;
    }
    const size_t together = table.together;
    if (together > 1 && !one_by_one) {
      TD_RETURN_IF_ERROR(RunTogether(state, absl::MakeConstSpan(section.commands).subspan(i, together), pool));
      i += together - 1;
      continue;
    }
    const auto begin = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const auto is_gradient = [&](const BlockUpdate& u) { return u.commands->gradient == i; };
    const bool gradient = std::any_of(section.block_updates.begin(), section.block_updates.end(), is_gradient);
    if (gradient && i == section.block_updates[0].commands->gradient)
      by_blocks = GradientsAreBounded(state, section, pool);
    absl::StatusOr<bool> finite = true;
    if (!gradient || !by_blocks) finite = RunGlobalCommand(state, command, pool, by_blocks);
    if (timed) {
      TimeCount& count = caller.times[command.id];
      count.nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
      count.calls += gradient && by_blocks ? 0 : 1;
    }
    if (!finite.ok()) return Annotate(finite.status(), absl::StrCat(table.name, ": "));
    if (!*finite) return false;
    if (by_blocks) RunBlockUpdates(state, section, i, pool);
    if (state.guard != nullptr) TD_RETURN_IF_ERROR(state.guard->CheckAll(absl::StrCat("command ", table.name)));
  }
  TD_RETURN_IF_ERROR(overlapped.EndAll());
  return true;
}

}  // namespace tandem
