#include "estimator/loop/step_scalar_settings.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/json_parse.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

bool IsLearningRate(absl::string_view name) { return absl::StartsWith(name, "learning_rate"); }

std::string Text(const std::map<std::string, double>& values) {
  if (values.empty()) return "";
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> RuntimeScalars() {
  return {"global_step", "seed", "example_count", "replica_example_count", "replica_index"};
}

void StepScalarSettings::SetDefaults(std::map<std::string, double> defaults) {
  defaults_ = std::move(defaults);
  for (const std::string& name : RuntimeScalars()) defaults_.erase(name);
  std::erase_if(values_, [&](const auto& setting) {
    if (defaults_.contains(setting.first)) return false;
    TD_LOG(WARNING) << setting.first << " was set to " << setting.second
                    << " while the training ran; the model has no such number any more.";
    return true;
  });
}

absl::StatusOr<double> StepScalarSettings::Get(absl::string_view name) const {
  const std::string key(name);
  if (auto it = for_step_.find(key); it != for_step_.end()) return it->second;
  if (auto it = values_.find(key); it != values_.end()) return it->second;
  if (auto it = defaults_.find(key); it != defaults_.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& entry : defaults_) names.push_back(entry.first);
  return absl::NotFoundError(absl::StrCat(
      "the model has no number \"", name, "\" that may change between steps; it has ",
      names.empty() ? "none" : absl::StrJoin(names, ", "),
      IsLearningRate(name)
          ? "; a learning rate that is a schedule follows from the global step, so give the optimizer a number instead"
          : ""));
}

absl::Status StepScalarSettings::Check(absl::string_view name, double value) const {
  TD_RETURN_IF_ERROR(Get(name).status());
  if (!std::isfinite(value) || (IsLearningRate(name) && value < 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must be a finite number", IsLearningRate(name) ? " of at least 0" : "", ", got ", value));
  }
  return absl::OkStatus();
}

absl::Status StepScalarSettings::Set(absl::string_view name, double value) {
  TD_RETURN_IF_ERROR(Check(name, value));
  values_[std::string(name)] = value;
  return absl::OkStatus();
}

absl::Status StepScalarSettings::SetForStep(absl::string_view name, double value) {
  TD_RETURN_IF_ERROR(Check(name, value));
  for_step_[std::string(name)] = value;
  return absl::OkStatus();
}

void StepScalarSettings::Keep() {
  values_ = values();
  for_step_.clear();
}

std::map<std::string, double> StepScalarSettings::values() const {
  std::map<std::string, double> values = for_step_;
  values.insert(values_.begin(), values_.end());
  return values;
}

std::vector<std::string> StepScalarSettings::LearningRates() const {
  std::vector<std::string> names;
  for (const auto& entry : defaults_) {
    if (IsLearningRate(entry.first)) names.push_back(entry.first);
  }
  return names;
}

std::string StepScalarSettings::ToJson() const { return Text(values_); }

absl::Status StepScalarSettings::Restore(absl::string_view text) {
  values_.clear();
  for_step_.clear();
  if (text.empty()) return absl::OkStatus();
  const nlohmann::json json = ParseJson(text);
  if (!json.is_object()) return absl::DataLossError("the numbers that were set between steps are no JSON object");
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number()) return absl::DataLossError(absl::StrCat("the step's ", name, " is no number"));
    values_[name] = value.get<double>();
  }
  return absl::OkStatus();
}

uint64_t StepScalarSettings::Fingerprint() const {
  const std::string text = Text(values());
  return text.empty() ? 0 : Fingerprint64(text);
}

}  // namespace tandem
