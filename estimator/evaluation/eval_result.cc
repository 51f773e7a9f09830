#include "estimator/evaluation/eval_result.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "base/user_code.h"

namespace tandem {
namespace {

constexpr int64_t kMaxPrinted = 100;  // most elements of an array that is printed
constexpr size_t kMaxRank = 8;

// Converts the dimensions from `axis` on; their elements begin at `values`, which is advanced past them.
nlohmann::ordered_json ArrayToJson(const Shape& shape, size_t axis, const double*& values) {
  if (axis == shape.size()) return NumberToJson(*values++);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (int64_t i = 0; i < shape[axis]; ++i) list.push_back(ArrayToJson(shape, axis + 1, values));
  return list;
}

nlohmann::ordered_json ToJson(const HostTensor& array) {
  const double* values = array.data<double>();
  return ArrayToJson(array.shape(), 0, values);
}

// Adds the elements of nested lists to `values`; false if a list does not have the length that `shape` gives.
bool Flatten(const nlohmann::json& json, const Shape& shape, size_t axis, std::vector<double>& values) {
  if (axis == shape.size()) {
    const std::optional<double> value = NumberFromJson(json);
    if (value.has_value()) values.push_back(*value);
    return value.has_value();
  }
  if (!json.is_array() || static_cast<int64_t>(json.size()) != shape[axis]) return false;
  for (const nlohmann::json& element : json) {
    if (!Flatten(element, shape, axis + 1, values)) return false;
  }
  return true;
}

absl::StatusOr<HostTensor> ArrayFromJson(const std::string& name, const nlohmann::json& json) {
  Shape shape;
  for (const nlohmann::json* list = &json; list->is_array() && shape.size() <= kMaxRank; list = &list->front()) {
    shape.push_back(static_cast<int64_t>(list->size()));
    if (list->empty()) break;
  }
  std::vector<double> values;
  if (shape.size() > kMaxRank || !Flatten(json, shape, 0, values)) {
    return absl::DataLossError(absl::StrCat("metric \"", name, "\" is no list of numbers, or of equal lists of them"));
  }
  return HostTensor::FromVector<double>(shape, values);
}

}  // namespace

double EvalResult::operator[](absl::string_view name) const {
  auto it = metrics.find(std::string(name));
  if (it != metrics.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& metric : metrics) names.push_back(metric.first);
  ReportUserError(absl::InvalidArgumentError(
      absl::StrCat("EvalResult[\"", name, "\"]: the evaluation has no number of this name, it has ",
                   names.empty() ? "none" : absl::StrJoin(names, ", "), DidYouMean(name, names))));
  return std::numeric_limits<double>::quiet_NaN();
}

std::string EvalResult::ToString() const {
  std::string text = absl::StrJoin(metrics, ", ", [](std::string* out, const auto& metric) {
    if (metric.first == "global_step") {
      absl::StrAppend(out, metric.first, " = ", static_cast<int64_t>(metric.second));
    } else {
      absl::StrAppendFormat(out, "%s = %.8g", metric.first, metric.second);
    }
  });
  for (const auto& [name, array] : arrays) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " = ",
                    array.num_elements() <= kMaxPrinted ? tandem::ToJson(array).dump()
                                                        : absl::StrCat("array of shape ", ShapeString(array.shape())));
  }
  return text;
}

std::string EvalResult::ToJson() const {
  // Begins as an object, not as null: converting null to an object aborts if memory runs out.
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metrics) {
    if (name == "global_step") {
      json[name] = static_cast<int64_t>(value);
    } else {
      json[name] = NumberToJson(value);
    }
  }
  for (const auto& [name, array] : arrays) json[name] = tandem::ToJson(array);
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<EvalResult> EvalResult::FromJson(absl::string_view text) {
  const nlohmann::json json = ParseJson(text);
  if (!json.is_object()) return absl::DataLossError("not a JSON object");
  EvalResult result;
  for (const auto& [name, value] : json.items()) {
    if (const std::optional<double> number = NumberFromJson(value)) {
      result.metrics[name] = *number;
    } else if (value.is_array()) {
      TD_ASSIGN_OR_RETURN(result.arrays[name], ArrayFromJson(name, value));
    } else {
      return absl::DataLossError(absl::StrCat("metric \"", name, "\" is not a number"));
    }
  }
  return result;
}

}  // namespace tandem
