// Accumulates the metrics of an evaluation over its batches, exactly.
#ifndef TANDEM_ESTIMATOR_METRIC_ACCUMULATOR_H_
#define TANDEM_ESTIMATOR_METRIC_ACCUMULATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/eval_result.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// Names of the two outputs that an evaluation graph has for a metric: scalars, summed over the step's global batch.
std::string MetricTotalName(absl::string_view metric);
std::string MetricCountName(absl::string_view metric);

// Sums in double on the host: a metric is the sum of its totals divided by the sum of its counts, and the loss the mean
// of the steps' losses weighted by their examples. A short last batch, or one that is spread over fewer replicas, so
// counts for what it is.
class MetricAccumulator {
 public:
  explicit MetricAccumulator(std::vector<std::string> metrics) : metrics_(std::move(metrics)) {}

  // InvalidArgument for a name that results use themselves.
  static absl::Status CheckName(absl::string_view metric);

  // What a step must fetch: "loss" and two names for each metric.
  std::vector<std::string> fetches() const;
  absl::Status Add(const RunValues& values);

  int64_t examples() const { return examples_; }
  int64_t batches() const { return batches_; }
  // A metric without any count is NaN.
  EvalResult Result(int64_t global_step) const;

 private:
  struct Sum {
    double total = 0;
    double count = 0;
  };
  std::vector<std::string> metrics_;
  std::map<std::string, Sum> sums_;
  double loss_sum_ = 0;
  int64_t examples_ = 0;
  int64_t batches_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_METRIC_ACCUMULATOR_H_
