#include "estimator/internal/progress_hooks.h"

#include <memory>

#include "estimator/evaluation/training_metrics_hook.h"
#include "estimator/hooks/progress_hook.h"

namespace tandem {
namespace {

// The number of steps over which the shown metrics are computed: small, so that a slow training soon shows some, but
// large enough that they do not jump.
constexpr int64_t kMetricSteps = 20;

}  // namespace

HookList ProgressHooks(int64_t max_steps, int64_t steps, const BatchDealer& dealer,
                       const std::map<std::string, Metric>& metrics) {
  ProgressHook::Options options;
  options.max_steps = max_steps;
  options.steps = steps;
  options.write = WriteToStderr;
  options.columns = ColumnsOfStderr;
  // If the size of the data is not known, epochs cannot be counted.
  if (const absl::StatusOr<EpochLength> epoch = dealer.epoch(); epoch.ok()) {
    options.steps_per_epoch = static_cast<double>(epoch->elements) /
                              (static_cast<double>(epoch->per) * static_cast<double>(dealer.batches_per_round()));
  }
  auto progress = std::make_shared<ProgressHook>(std::move(options));
  HookList hooks;
  if (!metrics.empty()) {
    hooks.push_back(std::make_shared<TrainingMetricsHook>(
        metrics, kMetricSteps,
        [progress](const EvalResult& result, int64_t, int64_t) { progress->set_metrics(result.metrics); }));
  }
  hooks.push_back(progress);
  return hooks;
}

}  // namespace tandem
