#include "estimator/keras/logs.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/user_code.h"

namespace tandem::keras {

bool Logs::Has(absl::string_view name) const {
  for (const auto& value : values_) {
    if (value.first == name) return true;
  }
  return false;
}

double Logs::operator[](absl::string_view name) const {
  std::vector<std::string> names;
  for (const auto& value : values_) {
    if (value.first == name) return value.second;
    names.push_back(value.first);
  }
  ReportUserError(absl::InvalidArgumentError(absl::StrCat("the logs have no \"", name, "\"; they have ",
                                                          names.empty() ? "nothing" : absl::StrJoin(names, ", "),
                                                          DidYouMean(std::string(name), names))));
  return std::numeric_limits<double>::quiet_NaN();
}

double Logs::operator[](int i) const {
  if (i >= 0 && static_cast<size_t>(i) < values_.size()) return values_[i].second;
  ReportUserError(
      absl::InvalidArgumentError(absl::StrCat("the logs have no number ", i, "; they have ", values_.size())));
  return std::numeric_limits<double>::quiet_NaN();
}

void Logs::Set(absl::string_view name, double value) {
  const double rounded = static_cast<double>(static_cast<float>(value));
  for (auto& old : values_) {
    if (old.first == name) {
      old.second = rounded;
      return;
    }
  }
  values_.emplace_back(std::string(name), rounded);
}

}  // namespace tandem::keras
