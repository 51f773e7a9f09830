// EvalResult: what an evaluation found.
#ifndef TANDEM_ESTIMATOR_EVAL_RESULT_H_
#define TANDEM_ESTIMATOR_EVAL_RESULT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"

namespace tandem {

// The metrics by name, sorted, with "loss" and "global_step" among them.
struct EvalResult {
  std::map<std::string, double> metrics;
  // Those that are no single number, such as a confusion matrix: float64 tensors.
  std::map<std::string, HostTensor> arrays = {};

  // Whether there is a number of this name.
  bool Has(absl::string_view name) const { return metrics.count(std::string(name)) > 0; }
  // A metric that is not there is NaN, and an error of the function of the user that asks (base/user_code.h), or one in
  // the log, which says what there is.
  double operator[](absl::string_view name) const;
  int64_t global_step() const { return Has("global_step") ? static_cast<int64_t>((*this)["global_step"]) : -1; }
  bool empty() const { return metrics.empty() && arrays.empty(); }

  // "accuracy = 0.9, global_step = 100, loss = 0.25", then arrays as in "confusion = [[5,1],[0,7]]", large ones by
  // their shape.
  std::string ToString() const;
  // {"accuracy": 0.9, ..., "confusion": [[5.0,1.0],[0.0,7.0]]}; all numbers round-trip (base/json_number.h).
  std::string ToJson() const;
  // DataLoss for what is no such object; lists must be of equal lengths.
  static absl::StatusOr<EvalResult> FromJson(absl::string_view json);
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVAL_RESULT_H_
