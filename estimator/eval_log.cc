#include "estimator/eval_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

std::string LogPath(const std::string& dir) { return JoinPath(dir, "metrics.jsonl"); }

// Empty when there is no log yet.
absl::StatusOr<std::string> ReadLog(Env* env, const std::string& dir) {
  absl::StatusOr<std::string> text = env->ReadFile(LogPath(dir));
  if (absl::IsNotFound(text.status())) return std::string();
  return text;
}

}  // namespace

std::string EvalDir(const std::string& model_dir, const std::string& name) {
  return JoinPath(model_dir, name.empty() ? "eval" : absl::StrCat("eval_", name));
}

absl::Status AppendEvalResult(Env* env, const std::string& dir, const EvalResult& result) {
  TD_RETURN_IF_ERROR(env->CreateDirs(dir));
  TD_ASSIGN_OR_RETURN(std::string text, ReadLog(env, dir));
  absl::StrAppend(&text, result.ToJson(), "\n");
  return env->WriteFileAtomically(LogPath(dir), text);
}

absl::StatusOr<std::optional<EvalResult>> FindEvalResult(Env* env, const std::string& dir, int64_t global_step) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadLog(env, dir));
  std::optional<EvalResult> found;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    absl::StatusOr<EvalResult> result = EvalResult::FromJson(line);
    if (result.ok() && result->global_step() == global_step) found = *std::move(result);
  }
  return found;
}

}  // namespace tandem
