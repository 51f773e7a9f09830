#include "estimator/replay/tensor_lines.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/tensor_values.h"
#include "estimator/hooks/logging_tensor_hook.h"

namespace tandem {
namespace {

// Returns, for example, "min -1.2  max 3  mean 0.4, 2 NaN".
std::string StatisticsText(const HostTensor& t) {
  double least = INFINITY, largest = -INFINITY, sum = 0;
  int64_t finite = 0, nan = 0, infinite = 0;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const double x = NumberAt(t, i);
    if (std::isfinite(x)) {
      least = std::min(least, x);
      largest = std::max(largest, x);
      sum += x;
      ++finite;
    } else {
      ++(std::isnan(x) ? nan : infinite);
    }
  }
  std::string text;
  if (finite > 0)
    text = absl::StrFormat("min %.6g  max %.6g  mean %.6g", least, largest, sum / static_cast<double>(finite));
  if (nan > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", nan, " NaN");
  if (infinite > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", infinite, " infinite");
  return text;
}

}  // namespace

std::string TensorLines(const std::vector<ShownTensor>& tensors) {
  std::vector<std::string> types;
  size_t name_width = 0, type_width = 0;
  for (const ShownTensor& t : tensors) {
    types.push_back(t.value.empty() ? "" : absl::StrCat(Name(t.value.dtype()), " ", ShapeString(t.value.shape())));
    name_width = std::max(name_width, t.name.size());
    type_width = std::max(type_width, types.back().size());
  }
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ShownTensor& t = tensors[i];
    std::string values = "the step did not come to it";
    if (!t.value.empty()) {
      values = t.value.num_elements() == 1 ? ShortString(t.value)
                                           : absl::StrCat(StatisticsText(t.value), "  ", ShortString(t.value));
    }
    absl::StrAppendFormat(&text, "%-*s  %-*s  %s%s\n", static_cast<int>(name_width), PrintableLine(t.name),
                          static_cast<int>(type_width), types[i], values,
                          t.origin.empty() ? "" : absl::StrCat("  ", PrintableLine(t.origin)));
  }
  return text;
}

}  // namespace tandem
