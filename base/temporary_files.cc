#include "base/temporary_files.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Takes "-<number>" off the end of `name`; -1 when there is none.
int TakeNumber(absl::string_view* name) {
  const size_t dash = name->rfind('-');
  int number = 0;
  if (dash == absl::string_view::npos || !absl::SimpleAtoi(name->substr(dash + 1), &number) || number < 0) return -1;
  *name = name->substr(0, dash);
  return number;
}

}  // namespace

int ProcessOfTemporary(absl::string_view name, bool counted) {
  if (!absl::StartsWith(name, ".tmp-")) return 0;
  if (counted && TakeNumber(&name) < 0) return 0;
  return std::max(TakeNumber(&name), 0);
}

absl::Status DeleteTemporaries(Env* env, const std::string& dir) {
  absl::StatusOr<std::vector<std::string>> names = env->ListDir(dir);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(names.status());
  for (const std::string& name : *names) {
    int process = ProcessOfTemporary(name, /*counted=*/true);
    if (process == 0) process = ProcessOfTemporary(name, /*counted=*/false);
    if (process == 0 || (process != env->ProcessId() && env->ProcessIsAlive(process))) continue;
    absl::Status status = env->DeleteRecursively(JoinPath(dir, name));
    if (!absl::IsNotFound(status)) TD_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace tandem
