#include "estimator/evaluation/eval_log.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {
namespace {

std::string LogPath(const std::string& dir) { return JoinPath(dir, "metrics.jsonl"); }

constexpr char kScopeKey[] = "evaluation_of";
// How long to wait for the lock of a log, and how long between two attempts. Adding a line takes milliseconds, but any
// number of evaluations may add lines at once.
constexpr double kRecordLockSeconds = 20, kRecordLockPauseSeconds = 0.01;

// Writes JSON even if a string is not UTF-8: paths may be anything.
template <typename Json>
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Returns the fields that differ from those of an evaluation over the whole input with the model's own weights.
nlohmann::ordered_json ToJson(const EvalScope& scope) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!scope.checkpoint.empty()) json["checkpoint"] = scope.checkpoint;
  if (scope.steps.has_value()) json["steps"] = *scope.steps;
  if (scope.stopped) json["stopped"] = true;
  if (scope.raw_weights) json["raw_weights"] = true;
  return json;
}

// Keys in the object `kScopeKey` of a line. Lines written by older versions have neither.
constexpr char kEvaluatedDataKey[] = "data";
constexpr char kJobKey[] = "job";

// A line of the log.
struct Line {
  EvalResult result;
  nlohmann::json of;  // the fields of EvalScope that ToJson writes; data and job are below
  std::string data;
  bool job = false;

  // Returns the kind of the evaluation; nothing for an evaluation of another checkpoint, or for one that a hook has
  // stopped.
  std::optional<EvalKind> kind() const {
    EvalKind kind;
    size_t known = 0;
    if (const auto steps = of.find("steps"); steps != of.end() && steps->is_number_integer()) {
      kind.steps = steps->get<int64_t>();
      ++known;
    }
    if (const auto raw = of.find("raw_weights"); raw != of.end() && *raw == true) {
      kind.raw_weights = true;
      ++known;
    }
    return known == of.size() ? std::make_optional(kind) : std::nullopt;
  }
};

// Parses a line; returns nothing if it is malformed.
std::optional<Line> ParseLine(absl::string_view text) {
  nlohmann::json json = ParseJson(text);
  if (!json.is_object()) return std::nullopt;
  nlohmann::json of = json.value(kScopeKey, nlohmann::json::object());
  // A value that is no object is a metric to which a user gave this name.
  if (of.is_object()) {
    json.erase(kScopeKey);
  } else {
    of = nlohmann::json::object();
  }
  std::string data;
  if (const auto found = of.find(kEvaluatedDataKey); found != of.end() && found->is_string())
    data = found->get<std::string>();
  const bool job = of.contains(kJobKey);
  of.erase(kEvaluatedDataKey);
  of.erase(kJobKey);
  absl::StatusOr<EvalResult> result = EvalResult::FromJson(Dump(json));
  if (!result.ok()) return std::nullopt;
  return Line{*std::move(result), std::move(of), std::move(data), job};
}

// Locks the log, so that nobody else adds a line while the lock exists. Returns null if the file system has no locks.
absl::StatusOr<std::unique_ptr<FileLock>> LockLog(Env* env, const std::string& dir) {
  for (double waited = 0;; waited += kRecordLockPauseSeconds) {
    absl::StatusOr<std::unique_ptr<FileLock>> lock = env->TryLock(JoinPath(dir, ".lock"));
    if (absl::IsUnimplemented(lock.status())) return nullptr;
    if (!absl::IsAlreadyExists(lock.status())) return lock;
    if (waited >= kRecordLockSeconds) {
      return absl::UnavailableError(
          absl::StrCat(JoinPath(dir, ".lock"), ": is locked for more than ", kRecordLockSeconds,
                       " seconds: another evaluation that records here stands still; end it"));
    }
    env->SleepSeconds(kRecordLockPauseSeconds);
  }
}

// Returns the text of the log; "" if there is no log yet.
absl::StatusOr<std::string> ReadLog(Env* env, const std::string& dir) {
  absl::StatusOr<std::string> text = ReadTextFile(env, LogPath(dir));
  if (absl::IsNotFound(text.status())) return std::string();
  return text;
}

std::vector<Line> ParseLines(absl::string_view text) {
  std::vector<Line> lines;
  for (absl::string_view text_of_line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (std::optional<Line> line = ParseLine(text_of_line)) lines.push_back(*std::move(line));
  }
  return lines;
}

// Decides which evaluations of a log may be compared with each other. Evaluations made by a job (TrainAndEvaluate) may
// be, whatever data they read, because a job's input may be created anew for each.
class Compared {
 public:
  explicit Compared(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      const std::optional<EvalKind> kind = line.kind();
      if (!kind.has_value()) continue;
      averages_ = averages_ || !kind->raw_weights;
      if (!line.job) continue;
      data_.insert(line.data);
      kinds_.insert(*kind);
      raw_weights_ = kind->raw_weights;
    }
  }
  bool job() const { return !kinds_.empty(); }
  // Returns whether an evaluation may be compared. If no job has evaluated, evaluations of raw weights may not be
  // compared where others use moving averages.
  bool Has(const EvalKind& kind, const std::string& data, bool by_job) const {
    if (!job()) return !kind.raw_weights || !averages_;
    if (kind.raw_weights != raw_weights_) return false;
    return by_job || (kinds_.contains(kind) && (data.empty() || data_.contains(data)));
  }

 private:
  bool averages_ = false;
  // The fingerprints of the data that the job evaluated, the kinds of its evaluations, and whether its last one used
  // raw weights.
  std::set<std::string> data_;
  std::set<EvalKind> kinds_;
  bool raw_weights_ = false;
};

}  // namespace

std::string EvalDir(const std::string& model_dir, const std::string& name) {
  return JoinPath(model_dir, name.empty() ? "eval" : absl::StrCat("eval_", name));
}

absl::Status AppendEvalResult(Env* env, const std::string& dir, const EvalResult& result, const EvalScope& scope) {
  TD_RETURN_IF_ERROR(env->CreateDirs(dir));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<FileLock> lock, LockLog(env, dir));
  TD_ASSIGN_OR_RETURN(std::string text, ReadLog(env, dir));
  std::string line = result.ToJson();
  nlohmann::ordered_json of = ToJson(scope);
  if (!scope.data.empty()) of[kEvaluatedDataKey] = scope.data;
  if (scope.job) of[kJobKey] = true;
  if (!of.empty()) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
    json[kScopeKey] = std::move(of);
    line = Dump(json);
  }
  absl::StrAppend(&text, line, "\n");
  return env->WriteFileAtomically(LogPath(dir), text);
}

absl::StatusOr<std::optional<EvalResult>> FindEvalResult(Env* env, const std::string& dir, int64_t global_step,
                                                         const EvalScope& scope,
                                                         const std::optional<std::string>& data) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadLog(env, dir));
  std::optional<EvalResult> found;
  bool of_job = false;
  for (Line& line : ParseLines(text)) {
    if (line.result.global_step() != global_step || line.of != nlohmann::json(ToJson(scope))) continue;
    if (scope.job && !line.job) continue;
    if ((of_job && !line.job) || (data.has_value() && !line.data.empty() && line.data != *data)) continue;
    found = std::move(line.result);
    of_job = line.job;
  }
  return found;
}

absl::StatusOr<std::optional<bool>> CountsBesideJob(Env* env, const std::string& dir, const EvalScope& scope) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadLog(env, dir));
  const Compared compared(ParseLines(text));
  const bool counts = compared.Has(scope.kind(), scope.data, /*by_job=*/false);
  return compared.job() || !counts ? std::make_optional(counts) : std::nullopt;
}

absl::StatusOr<EvalHistory> ReadEvalHistory(Env* env, const std::string& dir) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadLog(env, dir));
  std::map<int64_t, EvalHistory> by_steps;
  int64_t last = 0;
  std::vector<Line> lines = ParseLines(text);
  const Compared compared(lines);
  for (Line& line : lines) {
    const std::optional<EvalKind> kind = line.kind();
    if (line.result.global_step() < 0 || !kind.has_value() || !compared.Has(*kind, line.data, line.job)) continue;
    last = kind->steps;
    EvalHistory& history = by_steps[last];
    history.kind = *kind;
    history.job = compared.job();
    history.results[line.result.global_step()] = std::move(line.result);
  }
  return std::move(by_steps[by_steps.contains(0) ? 0 : last]);
}

}  // namespace tandem
