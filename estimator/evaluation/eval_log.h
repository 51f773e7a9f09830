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
#include "tandem/base/api.h"
#include "tandem/base/env.h"
#include "tandem/estimator/evaluation/eval_result.h"

namespace TANDEM_API tandem {

// Returns the directory "eval" or "eval_<name>" in model_dir.
std::string EvalDir(const std::string& model_dir, const std::string& name);

// Evaluations are compared with each other only if they are of the same kind.
struct EvalKind {
  int64_t steps = 0;         // number of steps asked for; 0: the whole input
  bool raw_weights = false;  // true: no moving averages were used

  auto operator<=>(const EvalKind&) const = default;
};

// What was evaluated and how, besides the evaluation's name and global step. A line of the log has the fields that
// differ from their defaults, for example:
//   "evaluation_of": {"checkpoint": "/other/model.ckpt-100", "steps": 10, "stopped": true, "data": "1f2e3d4c5b6a7988"}
struct EvalScope {
  // a checkpoint that is not the model's own, "initial values" or "assigned values"; "" for the model's own
  std::string checkpoint = "";
  std::optional<int64_t> steps;  // number of steps asked for; not set: the whole input
  bool stopped = false;          // true: a hook ended the evaluation early
  bool raw_weights = false;      // true: no moving averages were used
  std::string data = "";         // hash that identifies the input's data; "" if unknown
  bool job = false;              // true: made by TrainAndEvaluate, not by the user with Evaluate

  EvalKind kind() const { return {.steps = steps.value_or(0), .raw_weights = raw_weights}; }
  bool operator==(const EvalScope&) const = default;
};

// Adds a line to `dir`/metrics.jsonl. Any number of threads and processes may do so at once.
absl::Status AppendEvalResult(Env* env, const std::string& dir, const EvalResult& result, const EvalScope& scope = {});

// Returns the last recorded result of that step and scope, if there is one. Results of a job (TrainAndEvaluate) are
// preferred to those of evaluations that the user made by calling Evaluate, which are ignored if scope.job is set. With
// `data`, results that are known to be of other data are ignored. Lines that do not parse are skipped.
absl::StatusOr<std::optional<EvalResult>> FindEvalResult(Env* env, const std::string& dir, int64_t global_step,
                                                         const EvalScope& scope = {},
                                                         const std::optional<std::string>& data = std::nullopt);

// Returns whether an evaluation that the user made by calling Evaluate may be compared with those of a job under the
// same name: it must read the job's data and be of a kind that the job makes. If no job has evaluated, returns nothing,
// or false for an evaluation of raw weights if others use moving averages.
absl::StatusOr<std::optional<bool>> CountsBesideJob(Env* env, const std::string& dir, const EvalScope& scope);

// The results of a log that may be compared with each other, by global step; of several at one step, the last. They are
// evaluations of the model's own weights that no hook has stopped early, and are all of one kind. If a job
// (TrainAndEvaluate) has evaluated, they use raw weights or moving averages as its last evaluation does; otherwise raw
// weights only if no evaluation uses moving averages. They are over the whole input if there are such evaluations,
// otherwise over as many steps as the last one. Where a job has evaluated, evaluations by hand count only if they read
// the job's data and are of a kind that the job makes.
struct EvalHistory {
  std::map<int64_t, EvalResult> results;
  EvalKind kind;
  bool job = false;  // true if a job (TrainAndEvaluate) made some of the evaluations
};

// Returns an empty history if there is no log. Lines that do not parse are skipped.
absl::StatusOr<EvalHistory> ReadEvalHistory(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_EVAL_LOG_H_
