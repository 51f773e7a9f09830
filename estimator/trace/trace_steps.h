// Parses the option that says which steps to trace.
#ifndef TANDEM_ESTIMATOR_TRACE_TRACE_STEPS_H_
#define TANDEM_ESTIMATOR_TRACE_TRACE_STEPS_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns the first and the last step, counted from 0, of "100-110" or "100". InvalidArgument for anything else.
absl::StatusOr<std::pair<int64_t, int64_t>> ParseTraceSteps(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRACE_TRACE_STEPS_H_
