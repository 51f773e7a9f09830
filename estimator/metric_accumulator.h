// Accumulates the metrics of an evaluation over its batches, exactly.
#ifndef TANDEM_ESTIMATOR_METRIC_ACCUMULATOR_H_
#define TANDEM_ESTIMATOR_METRIC_ACCUMULATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/named_tensors.h"
#include "estimator/eval_result.h"
#include "estimator/session_run_hook.h"
#include "frontends/metrics.h"

namespace tandem {

// The name of the output that a graph has for a sum of a metric: its value over the step's global batch. The sums of a
// quotient are "total" and "count".
std::string MetricSumName(absl::string_view metric, absl::string_view sum);
// The names of a metric's sums.
std::vector<std::string> SumsOf(const Metric& metric);

// Sums in double on the host: a metric follows from the sums over all batches, and the loss is the mean of the steps'
// losses weighted by their examples. A short last batch, or one that is spread over fewer replicas, so counts for what
// it is.
class MetricAccumulator {
 public:
  // Keeps the names of the metrics' sums and their results, and none of their tensors.
  explicit MetricAccumulator(const std::map<std::string, Metric>& metrics);

  // InvalidArgument for a name that results use themselves.
  static absl::Status CheckName(absl::string_view metric);

  // What a step must fetch: "loss" and the sums of each metric.
  std::vector<std::string> fetches() const;
  // FailedPrecondition when a sum has another shape than in the batches before.
  absl::Status Add(const RunValues& values);

  int64_t examples() const { return examples_; }
  int64_t batches() const { return batches_; }
  // A quotient without any count is NaN. An error is that of a metric's result, with its name.
  absl::StatusOr<EvalResult> Result(int64_t global_step) const;
  // Forgets all batches.
  void Reset();
  // The sums so far, exactly, as a checkpoint may have them; and the batches that they are of become those that were
  // added. DataLoss for sums that are not of these metrics.
  NamedTensors SavedSums() const;
  absl::Status RestoreSums(const NamedTensors& state);

 private:
  struct State {
    std::vector<std::string> sums;
    MetricResult result;  // null: total / count
    std::map<std::string, Shape> shapes;
    MetricSums values;
  };
  std::map<std::string, State> metrics_;
  double loss_sum_ = 0;
  int64_t examples_ = 0;
  int64_t batches_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_METRIC_ACCUMULATOR_H_
