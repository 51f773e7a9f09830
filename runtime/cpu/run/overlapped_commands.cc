#include "runtime/cpu/run/overlapped_commands.h"

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/cpu/run/global_commands.h"

namespace tandem {

OverlappedCommands::~OverlappedCommands() {
  for (; calls_ > 0; --calls_) (void)thread_->Wait();
}

absl::Status OverlappedCommands::Begin(const CpuCommand& command, size_t index) {
  underway_.emplace_back(state_, command, index + 1 + command.table().overlap);
  GlobalRun& run = underway_.back().run;
  absl::Status status = RunTasks(run, command, pool_);
  if (!status.ok()) {
    underway_.pop_back();
    return status;
  }
  thread_->Begin(
      [&command, &run] { return run.ForAll(run.state.communication, [&] { return command.Exchange(run); }); });
  ++calls_;
  return absl::OkStatus();
}

absl::Status OverlappedCommands::EndBefore(size_t index) {
  // Commands end in the order in which they began, so all commands that began before one that must end now end too.
  size_t due = underway_.size();
  while (due > 0 && underway_[due - 1].next > index) --due;
  for (; due > 0; --due) {
    Underway& first = underway_.front();
    absl::Status status = thread_->Wait();
    --calls_;
    if (status.ok())
      status = first.run.ForAll(state_.threads[0].records, [&] { return first.command.End(first.run, pool_); });
    if (!status.ok()) status = Annotate(status, absl::StrCat(first.command.table().name, ": "));
    underway_.pop_front();
    TD_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace tandem
