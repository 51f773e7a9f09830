// Looks up a metric of an evaluation by a name that a user has given.
#ifndef TANDEM_ESTIMATOR_EVALUATION_METRIC_VALUE_H_
#define TANDEM_ESTIMATOR_EVALUATION_METRIC_VALUE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/evaluation/eval_result.h"

namespace tandem {

// Returns the metric's value, which may be NaN. InvalidArgument if the evaluation has no such number; the message has
// `where` (such as "RunConfig.keep_best"), a similar name, and the names that exist.
absl::StatusOr<double> MetricOf(const EvalResult& result, const std::string& metric, absl::string_view where);

// Checks a metric's name before an evaluation is made that will have the metrics `names`. InvalidArgument has a similar
// name and all names.
absl::Status CheckMetricName(const std::string& metric, const std::vector<std::string>& names);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_EVALUATION_METRIC_VALUE_H_
