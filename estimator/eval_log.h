// The results of evaluations on disk: a file of JSON lines in model_dir/eval or model_dir/eval_<name>.
#ifndef TANDEM_ESTIMATOR_EVAL_LOG_H_
#define TANDEM_ESTIMATOR_EVAL_LOG_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/eval_result.h"

namespace tandem {

// "eval" or "eval_<name>" in model_dir.
std::string EvalDir(const std::string& model_dir, const std::string& name);

// What evaluations have in common that are compared with each other.
struct EvalKind {
  int64_t steps = 0;         // that they were to go over; 0: the whole input
  bool raw_weights = false;  // asked not to use moving averages

  auto operator<=>(const EvalKind&) const = default;
};

// What an evaluation was of, beyond its name and global step. As a line has it, unless all is as it begins here:
//   "evaluation_of": {"checkpoint": "/other/model.ckpt-100", "steps": 10, "stopped": true, "data": "1f2e3d4c5b6a7988"}
struct EvalScope {
  std::string checkpoint = "";   // one that is not the model's own, or "initial values"
  std::optional<int64_t> steps;  // it was to go over so many; without: over the whole input
  bool stopped = false;          // a hook ended it early
  bool raw_weights = false;      // asked not to use moving averages
  std::string data = "";         // tells inputs apart; "" where this is unknown
  bool job = false;              // by TrainAndEvaluate, and not by a call of Evaluate by hand

  EvalKind kind() const { return {.steps = steps.value_or(0), .raw_weights = raw_weights}; }
  bool operator==(const EvalScope&) const = default;
};

// Adds a line to `dir`/metrics.jsonl. Any number of threads and processes may do so at once.
absl::Status AppendEvalResult(Env* env, const std::string& dir, const EvalResult& result, const EvalScope& scope = {});

// The last result of that step and scope, if one was recorded: of a job rather than by hand, and with scope.job of a
// job alone. Lines that do not parse are passed over. `data`: only of such data, or where a line does not know;
// without: of any.
absl::StatusOr<std::optional<EvalResult>> FindEvalResult(Env* env, const std::string& dir, int64_t global_step,
                                                         const EvalScope& scope = {},
                                                         const std::optional<std::string>& data = std::nullopt);

// Whether an evaluation by hand counts beside those of a job under that name: of its data, and of a kind that it makes.
// Nothing where there is no job, unless it is one of raw weights beside others.
absl::StatusOr<std::optional<bool>> CountsBesideJob(Env* env, const std::string& dir, const EvalScope& scope);

// The evaluations of the model's own weights that no hook has stopped, by global step, the last of each step. Only what
// is of one kind: raw weights where the job's last evaluation is of these, and without a job where there are no others;
// of the whole input where there are such, otherwise of as many steps as the last one. Beside those of a job,
// evaluations by hand count where they are of its data and of a kind that it makes.
struct EvalHistory {
  std::map<int64_t, EvalResult> results;
  EvalKind kind;
  bool job = false;  // there are those of a job
};

// Empty when there is no log. Lines that do not parse are passed over.
absl::StatusOr<EvalHistory> ReadEvalHistory(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVAL_LOG_H_
