#include "tools/launch/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/posix_error.h"
#include "base/status_macros.h"
#include "tools/launch/child.h"
#include "tools/launch/group.h"
#include "tools/launch/restarts.h"
#include "tools/launch/signals.h"

namespace tandem {
namespace {

std::map<std::string, std::string> InheritedVariables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const absl::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == absl::string_view::npos) continue;
    variables.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return variables;
}

// Returns the rank of the worker that caused the failure. Returns nullopt if the cause is no worker, and for exit code
// 75, with which a task only reports that it has lost another one.
std::optional<int64_t> FailedRank(const GroupEnd& end, const Layout& layout) {
  if (end.ends[*end.cause].code == kExitTemporary || *end.cause >= layout.workers) return std::nullopt;
  return *end.cause;
}

// Returns why the launch ended if no task has failed: a user's signal, or a standard output that cannot be written.
absl::Status EndByUser(const GroupEnd& end) {
  if (end.stop_signal != 0) {
    return WithExitCode(absl::CancelledError(absl::StrCat("stopped by ", SignalName(end.stop_signal))),
                        128 + end.stop_signal);
  }
  if (end.output_error != 0) {
    return WithExitCode(PosixError(end.output_error, "write", "standard output"), kExitIo);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Launch(const LaunchOptions& options) {
  TD_RETURN_IF_ERROR(CheckOptions(options));
  const char* path = getenv("PATH");
  TD_ASSIGN_OR_RETURN(const std::string program, FindProgram(options.command[0], path != nullptr ? path : ""));
  RaiseFileLimit();
  // Processes that an ended task has left running become children of this process, which can then wait for their end
  // (Process::CheckGroup).
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return PosixError(errno, "adopt", "orphans of tasks");
  Signals signals;
  TD_RETURN_IF_ERROR(signals.Init());
  Output output;
  const std::map<std::string, std::string> inherited = InheritedVariables();
  Restarts restarts(options.max_restarts, options.min_workers, options.layout.workers);
  Layout layout = options.layout;
  layout.full_workers = layout.workers;
  while (true) {
    Group group(options, layout, &signals, &output);
    TD_RETURN_IF_ERROR(group.Start(program, inherited, restarts.count()));
    const GroupEnd end = group.Run();
    if (!end.cause) {
      TD_RETURN_IF_ERROR(EndByUser(end));
      if (!end.workers) return absl::OkStatus();
      layout.workers = *end.workers;
      restarts.Forget();
      continue;
    }
    const TaskEnd& cause = end.ends[*end.cause];
    std::string text = Summary(end.ends, *end.cause);
    Restarts::Next next;
    if (EndByUser(end).ok()) next = restarts.AfterFailure(cause, FailedRank(end, layout), layout.workers);
    if (!next.text.empty()) absl::StrAppend(&text, "; ", next.text);
    if (!next.start) return WithExitCode(absl::UnknownError(text), ExitCodeOf(cause));
    Note(text, &output);
    layout.workers = next.workers;
  }
}

}  // namespace tandem
