#include "estimator/eval_result.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace tandem {

double EvalResult::operator[](absl::string_view name) const {
  auto it = metrics.find(std::string(name));
  return it == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
}

std::string EvalResult::ToString() const {
  return absl::StrJoin(metrics, ", ", [](std::string* out, const auto& metric) {
    if (metric.first == "global_step") {
      absl::StrAppend(out, metric.first, " = ", static_cast<int64_t>(metric.second));
    } else {
      absl::StrAppendFormat(out, "%s = %.8g", metric.first, metric.second);
    }
  });
}

std::string EvalResult::ToJson() const {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : metrics) {
    if (name == "global_step") {
      json[name] = static_cast<int64_t>(value);
    } else if (std::isfinite(value)) {
      json[name] = value;
    } else {
      json[name] = nullptr;
    }
  }
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<EvalResult> EvalResult::FromJson(absl::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError("not a JSON object");
  EvalResult result;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number()) {
      result.metrics[name] = value.get<double>();
    } else if (value.is_null()) {
      result.metrics[name] = std::numeric_limits<double>::quiet_NaN();
    } else {
      return absl::DataLossError(absl::StrCat("metric \"", name, "\" is not a number"));
    }
  }
  return result;
}

}  // namespace tandem
