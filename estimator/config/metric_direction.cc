#include "estimator/config/metric_direction.h"

#include "absl/strings/str_cat.h"

namespace tandem {

std::string DirectionProblem(absl::string_view metric, const std::optional<MetricDirection>& direction) {
  if (direction.has_value() || metric == "loss") return "";
  return absl::StrCat("direction is not set, and nothing says whether a larger or a smaller \"", metric,
                      "\" is better; set it to MetricDirection::kMax or MetricDirection::kMin");
}

}  // namespace tandem
