// The log of an evaluation's results: a file of JSON lines in model_dir/eval or model_dir/eval_<name>.
#ifndef TANDEM_ESTIMATOR_EVALUATION_EVAL_LOG_H_
#define TANDEM_ESTIMATOR_EVALUATION_EVAL_LOG_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "estimator/evaluation/eval_result.h"

namespace tandem {

// Returns the directory "eval" or "eval_<name>" in model_dir.
std::string EvalDir(const std::string& model_dir, const std::string& name);

// Evaluations are compared with each other only if they are of the same kind.
struct EvalKind {
  int64_t steps = 0;         // steps that it was asked to make; 0: the whole input
  bool raw_weights = false;  // asked not to use moving averages

  auto operator<=>(const EvalKind&) const = default;
};

// The subject of an evaluation, beyond the evaluation's name and global step. A line of the log has the fields that
// differ from their defaults, for example:
//   "evaluation_of": {"checkpoint": "/other/model.ckpt-100", "steps": 10, "stopped": true, "data": "1f2e3d4c5b6a7988"}
struct EvalScope {
  // a checkpoint that is not the model's own, "initial values" or "assigned values"; "" for the model's own
  std::string checkpoint = "";
  std::optional<int64_t> steps;  // steps that it was asked to make; not set: the whole input
  bool stopped = false;          // a hook ended it early
  bool raw_weights = false;      // asked not to use moving averages
  std::string data = "";         // tells inputs apart; "" if unknown
  bool job = false;              // made by TrainAndEvaluate, not by hand with Evaluate

  EvalKind kind() const { return {.steps = steps.value_or(0), .raw_weights = raw_weights}; }
  bool operator==(const EvalScope&) const = default;
};

// Adds a line to `dir`/metrics.jsonl. Any number of threads and processes may do so at once.
absl::Status AppendEvalResult(Env* env, const std::string& dir, const EvalResult& result, const EvalScope& scope = {});

// Returns the last recorded result of that step and scope, if there is one. Results of a job (TrainAndEvaluate) are
// preferred to those of evaluations by hand, which scope.job excludes. With `data`, results that are known to be of
// other data are excluded. Lines that do not parse are skipped.
absl::StatusOr<std::optional<EvalResult>> FindEvalResult(Env* env, const std::string& dir, int64_t global_step,
                                                         const EvalScope& scope = {},
                                                         const std::optional<std::string>& data = std::nullopt);

// Returns whether an evaluation by hand counts beside those of a job with that name: it must be of the job's data and
// of a kind that the job makes. Without a job returns nothing, or false for an evaluation of raw weights if there are
// others that use moving averages.
absl::StatusOr<std::optional<bool>> CountsBesideJob(Env* env, const std::string& dir, const EvalScope& scope);

// The evaluations of the model's own weights that no hook has stopped, by global step, the last of each step. All are
// of one kind. Weights: those of the job's last evaluation; without a job, raw weights only if there are no others.
// Input: the whole input if there are such evaluations, otherwise as many steps as the last one. Beside those of a job,
// evaluations by hand count if they are of its data and of a kind that it makes.
struct EvalHistory {
  std::map<int64_t, EvalResult> results;
  EvalKind kind;
  bool job = false;  // some of them are of a job (TrainAndEvaluate)
};

// Returns an empty history if there is no log. Lines that do not parse are skipped.
absl::StatusOr<EvalHistory> ReadEvalHistory(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_EVAL_LOG_H_
