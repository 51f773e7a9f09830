// EvalResult: the result of an evaluation.
#ifndef TANDEM_ESTIMATOR_EVALUATION_EVAL_RESULT_H_
#define TANDEM_ESTIMATOR_EVALUATION_EVAL_RESULT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"

namespace TANDEM_API tandem {

// The metrics by name, sorted, with "loss" and "global_step" among them.
struct EvalResult {
  std::map<std::string, double> metrics;
  // Metrics that are no single number, such as a confusion matrix: float64 tensors.
  std::map<std::string, HostTensor> arrays = {};

  // True if the result has a number of this name, not only an array.
  bool Has(absl::string_view name) const { return metrics.count(std::string(name)) > 0; }
  // Returns NaN for a metric that does not exist. Inside of a function of the user, the function's call then fails
  // (base/user_code.h); elsewhere the log has an error. Both messages list the metrics that exist.
  double operator[](absl::string_view name) const;
  // The step of the weights; -1 if there is none.
  int64_t global_step() const { return Has("global_step") ? static_cast<int64_t>((*this)["global_step"]) : -1; }
  // True if there is no number and no array, as for a worker that does not evaluate.
  bool empty() const { return metrics.empty() && arrays.empty(); }

  // Returns "accuracy = 0.9, global_step = 100, loss = 0.25", then arrays as in "confusion = [[5,1],[0,7]]"; of large
  // arrays only the shape.
  std::string ToString() const;
  // Returns {"accuracy": 0.9, ..., "confusion": [[5.0,1.0],[0.0,7.0]]}; all numbers round-trip (base/json_number.h).
  std::string ToJson() const;
  // Parses what ToJson returns. DataLoss if `json` is not such an object; nested lists must be of equal lengths.
  static absl::StatusOr<EvalResult> FromJson(absl::string_view json);
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_EVAL_RESULT_H_
