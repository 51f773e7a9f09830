#include "estimator/evaluation/training_metrics_hook.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {

absl::Status TrainingMetricsHook::Begin(HookContext& context) {
  if (every_n_iter_ <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("every_n_iter must be positive, got ", every_n_iter_));
  }
  for (const std::string& name : metrics_.fetches()) context.Fetch(name);
  metrics_.Reset();
  first_step_ = -1;
  return absl::OkStatus();
}

absl::Status TrainingMetricsHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!values.finite || !values.applied) return absl::OkStatus();
  if (first_step_ < 0) first_step_ = values.step;
  TD_RETURN_IF_ERROR(metrics_.Add(values));
  if (metrics_.batches() < every_n_iter_) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(EvalResult result, metrics_.Result(values.step));
  result.metrics.erase("global_step");
  report_(result, first_step_, values.step);
  metrics_.Reset();
  first_step_ = -1;
  return absl::OkStatus();
}

}  // namespace tandem
