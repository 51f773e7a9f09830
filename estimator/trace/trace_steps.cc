#include "estimator/trace/trace_steps.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tandem {

absl::StatusOr<std::pair<int64_t, int64_t>> ParseTraceSteps(absl::string_view text) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, '-');
  int64_t first = 0, last = 0;
  const bool valid = ends.size() <= 2 && absl::SimpleAtoi(ends.front(), &first) &&
                     absl::SimpleAtoi(ends.back(), &last) && first >= 0 && first <= last;
  if (valid) return std::make_pair(first, last);
  return absl::InvalidArgumentError(
      absl::StrCat("trace steps \"", text, "\" are not FIRST-LAST, such as 100-110, counted from 0"));
}

}  // namespace tandem
