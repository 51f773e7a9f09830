// TrainingMetricsHook: reports metrics over the last steps of a training.
#ifndef TANDEM_ESTIMATOR_EVALUATION_TRAINING_METRICS_HOOK_H_
#define TANDEM_ESTIMATOR_EVALUATION_TRAINING_METRICS_HOOK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "estimator/evaluation/metric_accumulator.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Every `every_n_iter` steps, reports the metrics over the examples of these steps. Each step's predictions are those
// before its update. Steps that were not finite do not count.
class TrainingMetricsHook : public SessionRunHook {
 public:
  // Called with the metrics of the steps `first` to `last`, counted from 0. The result has no "global_step".
  using Report = std::function<void(const EvalResult& result, int64_t first, int64_t last)>;

  TrainingMetricsHook(const std::map<std::string, Metric>& metrics, int64_t every_n_iter, Report report)
      : metrics_(metrics), every_n_iter_(every_n_iter), report_(std::move(report)) {}

  std::string name() const override { return "TrainingMetricsHook"; }
  absl::Status Begin(HookContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override { return metrics_.fetches(); }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  MetricAccumulator metrics_;
  int64_t every_n_iter_;
  Report report_;
  int64_t first_step_ = -1;  // the first step whose metrics are in metrics_; negative if there is none
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_TRAINING_METRICS_HOOK_H_
