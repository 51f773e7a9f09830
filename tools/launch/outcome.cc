#include "tools/launch/outcome.h"

#include <signal.h>

#include <map>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/exit_code.h"
#include "tools/launch/layout.h"
#include "tools/launch/signals.h"

namespace tandem {
namespace {

std::string HowItEnded(const TaskEnd& end) {
  if (end.signal == 0) return absl::StrCat("exited with code ", end.code);
  return absl::StrCat("was killed by signal ", end.signal, " (", SignalName(end.signal), ")");
}

// Describes how a task ended that did not cause the failure. Empty if its end needs no mention.
std::string Consequence(const TaskEnd& end, const TaskEnd& cause) {
  const bool lost_peer = end.code == kExitTemporary && cause.code != kExitTemporary;
  if (Failed(end) || lost_peer) return absl::StrCat(HowItEnded(end), lost_peer ? " because of it" : "");
  if (!end.stopped) return "";
  if (end.signal == SIGKILL) return "was killed, not having ended in time";
  if (end.signal == SIGTERM || end.code == 0 || end.code == kExitTerminated) return "was stopped";
  return absl::StrCat(HowItEnded(end), " when it was stopped");
}

// Returns the names of tasks, grouped by type: "worker 0, 1, 3 and ps 0".
std::string Names(const std::map<TaskType, std::vector<int64_t>>& indices) {
  constexpr size_t kMostShown = 16;
  std::string text;
  for (const auto& [type, of_type] : indices) {
    absl::StrAppend(&text, text.empty() ? "" : " and ", Name(type));
    for (size_t i = 0; i < of_type.size() && i < kMostShown; ++i) {
      absl::StrAppend(&text, i == 0 ? " " : ", ", of_type[i]);
    }
    if (of_type.size() > kMostShown) absl::StrAppend(&text, " and ", of_type.size() - kMostShown, " more");
  }
  return text;
}

}  // namespace

int ExitCodeOf(const TaskEnd& end) { return end.signal != 0 ? 128 + end.signal : end.code; }

bool Failed(const TaskEnd& end) { return !end.stopped && ExitCodeOf(end) != 0; }

std::optional<size_t> FindCause(absl::Span<const TaskEnd> ends) {
  std::optional<size_t> first, cause;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (Failed(ends[i]) && (!first || ends[i].seconds < ends[*first].seconds)) first = i;
  }
  if (!first || ends[*first].code != kExitTemporary) return first;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!Failed(ends[i]) || ends[i].code == kExitTemporary) continue;
    if (ends[i].seconds > ends[*first].seconds + kSettleSeconds) continue;
    if (!cause || ends[i].seconds < ends[*cause].seconds) cause = i;
  }
  return cause ? cause : first;
}

bool IsTemporary(const TaskEnd& cause) {
  static constexpr int kTemporary[] = {kExitInternal, kExitTemporary, 128 + SIGABRT,
                                       128 + SIGKILL, 128 + SIGSEGV,  kExitTerminated};
  return cause.signal != 0 || absl::c_linear_search(kTemporary, cause.code);
}

std::string Summary(absl::Span<const TaskEnd> ends, size_t cause) {
  const TaskEnd& first = ends[cause];
  std::string text = absl::StrCat(Label(first.task), " (pid ", first.pid, ") ", HowItEnded(first));
  // The different descriptions of how tasks ended, ordered by the first task that each applies to.
  std::vector<std::string> kinds;
  std::map<std::string, std::map<TaskType, std::vector<int64_t>>> others;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (i == cause) continue;
    const std::string what = Consequence(ends[i], first);
    if (what.empty()) continue;
    if (!others.contains(what)) kinds.push_back(what);
    others[what][ends[i].task.type].push_back(ends[i].task.index);
  }
  for (const std::string& what : kinds) {
    absl::string_view rest = what;
    const bool is_one = others[what].size() == 1 && others[what].begin()->second.size() == 1;
    const bool plural = !is_one && absl::ConsumePrefix(&rest, "was ");
    absl::StrAppend(&text, "; ", Names(others[what]), plural ? " were " : " ", rest);
  }
  return text;
}

}  // namespace tandem
