// Accumulates the metrics of an evaluation over its batches, exactly.
#ifndef TANDEM_ESTIMATOR_EVALUATION_METRIC_ACCUMULATOR_H_
#define TANDEM_ESTIMATOR_EVALUATION_METRIC_ACCUMULATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/named_tensors.h"
#include "estimator/evaluation/eval_result.h"
#include "estimator/loop/session_run_hook.h"
#include "frontends/metrics.h"

namespace tandem {

// Returns the name of the graph output that has the value of a metric's sum over the step's global batch. A metric that
// is a quotient has the sums "total" and "count".
std::string MetricSumName(absl::string_view metric, absl::string_view sum);
// Returns the names of a metric's sums.
std::vector<std::string> SumsOf(const Metric& metric);

// Adds up sums in double on the host: a metric is computed from the sums over all batches, and the loss is the mean of
// the steps' losses weighted by their numbers of examples. So a short last batch, or one that is spread over fewer
// replicas, gets the right weight.
class MetricAccumulator {
 public:
  // Copies the names of the metrics' sums and their result functions, not their tensors.
  explicit MetricAccumulator(const std::map<std::string, Metric>& metrics);

  // InvalidArgument for a name that every result has ("loss", "global_step"), and for an empty one.
  static absl::Status CheckName(absl::string_view metric);

  // The tensors that a step must fetch: "loss" and the sums of each metric.
  std::vector<std::string> fetches() const;
  // FailedPrecondition if a sum has another shape than in earlier batches.
  absl::Status Add(const RunValues& values);

  int64_t examples() const { return examples_; }
  int64_t batches() const { return batches_; }
  // Returns the metrics over all batches. A quotient with a count of 0 is NaN. If a metric's result function fails,
  // returns its error with the metric's name.
  absl::StatusOr<EvalResult> Result(int64_t global_step) const;
  // Begins anew, as if no batch had been added.
  void Reset();
  // SavedSums returns the sums so far, exactly, for a checkpoint. RestoreSums replaces the sums, and the numbers of
  // examples and batches, by saved ones; DataLoss for sums that are not of these metrics.
  NamedTensors SavedSums() const;
  absl::Status RestoreSums(const NamedTensors& state);

 private:
  struct State {
    std::vector<std::string> sums;
    MetricResult result;  // null: the metric is the quotient total / count
    std::map<std::string, Shape> shapes;
    MetricSums values;
  };
  std::map<std::string, State> metrics_;
  double loss_sum_ = 0;
  int64_t examples_ = 0;
  int64_t batches_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_METRIC_ACCUMULATOR_H_
