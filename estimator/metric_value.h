// A metric of an evaluation by a name that a user has given.
#ifndef TANDEM_ESTIMATOR_METRIC_VALUE_H_
#define TANDEM_ESTIMATOR_METRIC_VALUE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/eval_result.h"

namespace tandem {

// May be NaN. InvalidArgument when the evaluation has no such number: `where` ("RunConfig.keep_best") and the names
// that there are, the near one first.
absl::StatusOr<double> MetricOf(const EvalResult& result, const std::string& metric, absl::string_view where);

// The same of the names of an evaluation that is still to be made.
absl::Status CheckMetricName(const std::string& metric, const std::vector<std::string>& names);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_METRIC_VALUE_H_
