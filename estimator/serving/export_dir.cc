#include "estimator/serving/export_dir.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "estimator/serving/signature.h"

namespace tandem {
namespace {

constexpr size_t kDigits = 10, kMaxDigits = 15;
constexpr int kAttempts = 10;

// Returns the number that is an export's name; -1 for other names.
int64_t NumberOf(absl::string_view name) {
  int64_t number = 0;
  const bool digits = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (name.size() < kDigits || name.size() > kMaxDigits || !digits || !absl::SimpleAtoi(name, &number)) return -1;
  return number;
}

// Returns a number larger than all existing ones, so that the order of the names is that of the exports.
absl::StatusOr<int64_t> NextNumber(Env* env, const std::string& base) {
  int64_t next = static_cast<int64_t>(env->NowSeconds());
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env->ListDir(base));
  for (const std::string& name : names) next = std::max(next, NumberOf(name) + 1);
  return next;
}

std::string NameOf(int64_t number) { return absl::StrFormat("%010d", number); }

absl::StatusOr<std::string> Write(Env* env, const std::string& base,
                                  const std::vector<std::pair<std::string, std::vector<absl::string_view>>>& files) {
  TD_RETURN_IF_ERROR(env->CreateDirs(base));
  TD_RETURN_IF_ERROR(DeleteTemporaries(
      env, base, [](absl::string_view target) { return NumberOf(absl::StripPrefix(target, "delete-")) >= 0; }));
  TD_ASSIGN_OR_RETURN(int64_t number, NextNumber(env, base));
  TD_ASSIGN_OR_RETURN(TemporaryDir temporary, TemporaryDir::Create(env, JoinPath(base, NameOf(number))));
  for (const auto& [name, pieces] : files) {
    TD_RETURN_IF_ERROR(env->WriteNewFile(JoinPath(temporary.path(), name), pieces));
  }
  TD_RETURN_IF_ERROR(env->SyncDir(temporary.path()));
  for (int attempt = 1;; ++attempt) {
    const std::string path = JoinPath(base, NameOf(number));
    const absl::Status status = temporary.Rename(path);
    if (status.ok()) {
      TD_RETURN_IF_ERROR(env->SyncDir(base));
      return path;
    }
    if (!absl::IsAlreadyExists(status) || attempt == kAttempts) return status;
    TD_ASSIGN_OR_RETURN(number, NextNumber(env, base));  // another process has taken the name
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListExports(Env* env, const std::string& base) {
  const absl::StatusOr<std::vector<std::string>> names = env->ListDir(base);
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  TD_RETURN_IF_ERROR(names.status());
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string& name : *names) {
    const std::string path = JoinPath(base, name);
    if (NumberOf(name) >= 0 && env->Exists(JoinPath(path, kSignatureName))) found.emplace_back(NumberOf(name), path);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

absl::StatusOr<std::string> FindExport(Env* env, const std::string& path) {
  if (env->Exists(JoinPath(path, kSignatureName))) return path;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> exports, ListExports(env, path));
  return exports.empty() ? path : exports.back();
}

absl::StatusOr<std::string> WriteExport(
    Env* env, const std::string& base,
    const std::vector<std::pair<std::string, std::vector<absl::string_view>>>& files) {
  absl::StatusOr<std::string> path = Write(env, base, files);
  const absl::string_view advice = absl::IsResourceExhausted(path.status())  ? "; free some space or export elsewhere"
                                   : absl::IsPermissionDenied(path.status()) ? "; make the directory writable"
                                                                             : "";
  if (!path.ok()) return Annotate(path.status(), absl::StrCat("no model was exported to ", base, ": "), advice);
  return path;
}

absl::Status DeleteOldExports(Env* env, const std::string& base, int keep, const std::string& newest) {
  if (keep <= 0) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> exports, ListExports(env, base));
  int64_t left = static_cast<int64_t>(exports.size());
  for (const std::string& path : exports) {
    if (left <= keep) break;
    if (path == newest) continue;
    const absl::Status status = DeleteAside(env, path);
    if (!absl::IsNotFound(status)) TD_RETURN_IF_ERROR(status);  // another exporter may have deleted it
    --left;
  }
  return absl::OkStatus();
}

}  // namespace tandem
