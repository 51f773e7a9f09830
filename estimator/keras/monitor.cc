#include "estimator/keras/monitor.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/nearest_name.h"

namespace tandem::keras {

double Monitor::Worst() const {
  const double infinity = std::numeric_limits<double>::infinity();
  return more_is_better_ ? -infinity : infinity;
}

bool Monitor::IsBetter(double value, double than, double delta) const {
  return more_is_better_ ? value - delta > than : value + delta < than;
}

std::optional<double> Monitor::ValueOf(const Logs& logs, absl::string_view callback) {
  std::vector<std::string> names;
  for (const auto& [name, value] : logs.values()) {
    if (name == name_) return value;
    names.push_back(name);
  }
  if (!std::exchange(warned_, true)) {
    const std::string nearest = NearestName(name_, names);
    TD_LOG(WARNING) << callback << " looks at \"" << name_ << "\", which the logs do not have; they have "
                    << absl::StrJoin(names, ", ")
                    << (nearest.empty() ? "." : absl::StrCat("; did you mean \"", nearest, "\"?"))
                    << " It does nothing without; names with val_ need validation data.";
  }
  return std::nullopt;
}

absl::Status CheckMonitorMode(absl::string_view mode) {
  if (mode == "auto" || mode == "min" || mode == "max") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("mode must be \"auto\", \"min\" or \"max\", got \"", mode, "\""));
}

}  // namespace tandem::keras
