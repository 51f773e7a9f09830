#include "estimator/continuous_eval.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "estimator/internal/evaluator_task.h"

namespace tandem {
namespace {

absl::Status Check(const EvalSpec& eval_spec, const ContinuousEvalOptions& options) {
  TD_RETURN_IF_ERROR(eval_spec.Validate());
  if (eval_spec.by_steps()) {
    return absl::InvalidArgumentError(
        "ContinuousEval evaluates checkpoints: every_steps and every_epochs are for TrainAndEvaluate; set "
        "throttle_secs");
  }
  if (!(options.timeout_secs >= 0) || options.max_evaluations < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("ContinuousEval: timeout_secs and max_evaluations must not be negative, got ",
                     options.timeout_secs, " and ", options.max_evaluations, "; 0 sets no end"));
  }
  return absl::OkStatus();
}

// Returns the result of the only evaluation; an empty one if none was made.
absl::StatusOr<EvalResult> OnlyResult(const absl::StatusOr<EvalResults>& results) {
  TD_RETURN_IF_ERROR(results.status());
  return results->empty() ? EvalResult() : results->begin()->second;
}

}  // namespace

absl::StatusOr<EvalResult> ContinuousEval(Estimator& estimator, const EvalSpec& eval_spec,
                                          const ContinuousEvalOptions& options) {
  TD_RETURN_IF_ERROR(Check(eval_spec, options));
  return CatchResourceErrors("ContinuousEval", [&] {
    const std::vector<EvalSpec> eval_specs = {eval_spec};
    EvaluatorTask task(estimator, eval_specs,
                       {.timeout_secs = options.timeout_secs, .max_evaluations = options.max_evaluations});
    return OnlyResult(task.Run());
  });
}

}  // namespace tandem
