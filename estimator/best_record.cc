#include "estimator/best_record.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tandem {

bool BestRecords::Update(const std::string& evaluation, const EvalResult& result, int64_t steps) {
  const double loss = result["loss"];
  if (!std::isfinite(loss)) return false;  // a NaN record would never be beaten
  auto it = records_.find(evaluation);
  if (it != records_.end()) {
    const BestRecord& best = it->second;
    if (steps != 0 && best.steps == 0) return false;
    if (steps == best.steps && !(loss < best.loss)) return false;
  }
  records_[evaluation] = {loss, result.global_step(), steps};
  return true;
}

std::string BestRecords::ToJson() const {
  if (records_.empty()) return "";
  auto json = nlohmann::ordered_json::object();  // null would become one by itself, and abort without memory
  for (const auto& [name, record] : records_) {
    json[name] = {{"loss", record.loss}, {"global_step", record.global_step}};
    if (record.steps != 0) json[name]["steps"] = record.steps;
  }
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<BestRecords> BestRecords::FromJson(absl::string_view text) {
  BestRecords result;
  if (text.empty()) return result;
  const nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError("the best-metric record is not a JSON object");
  for (const auto& [name, record] : json.items()) {
    if (!record.is_object() || !record.contains("loss") || !record["loss"].is_number() ||
        !record.contains("global_step") || !record["global_step"].is_number_integer()) {
      return absl::DataLossError("the best-metric record has no loss or no global_step");
    }
    const auto steps = record.find("steps");
    result.records_[name] = {record["loss"].get<double>(), record["global_step"].get<int64_t>(),
                             steps != record.end() && steps->is_number_integer() ? steps->get<int64_t>() : 0};
  }
  return result;
}

}  // namespace tandem
