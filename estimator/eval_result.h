// EvalResult: what an evaluation found.
#ifndef TANDEM_ESTIMATOR_EVAL_RESULT_H_
#define TANDEM_ESTIMATOR_EVAL_RESULT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The metrics by name, sorted, with "loss" and "global_step" among them.
struct EvalResult {
  std::map<std::string, double> metrics;

  bool Has(absl::string_view name) const { return metrics.count(std::string(name)) > 0; }
  // NaN when there is no such metric.
  double operator[](absl::string_view name) const;
  int64_t global_step() const { return Has("global_step") ? static_cast<int64_t>((*this)["global_step"]) : -1; }
  bool empty() const { return metrics.empty(); }

  // "accuracy = 0.9, global_step = 100, loss = 0.25"
  std::string ToString() const;
  // {"accuracy": 0.9, ...}; numbers round-trip, what is not finite becomes null.
  std::string ToJson() const;
  static absl::StatusOr<EvalResult> FromJson(absl::string_view json);
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVAL_RESULT_H_
