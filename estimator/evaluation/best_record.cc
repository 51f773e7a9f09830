#include "estimator/evaluation/best_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Returns the number under `key`; NaN if there is none.
double NumberAt(const nlohmann::json& json, const char* key) {
  return json.contains(key) ? NumberFromJson(json[key]).value_or(kNoNumber) : kNoNumber;
}

absl::StatusOr<BestRecord> RecordFrom(const nlohmann::json& json) {
  const bool by_metric = json.is_object() && json.contains("metric");
  if (!json.is_object() || !json.contains("global_step") || !json["global_step"].is_number_integer() ||
      std::isnan(NumberAt(json, by_metric ? "value" : "loss"))) {
    return absl::DataLossError("the best-metric record has no loss or no global_step");
  }
  BestRecord record{.loss = NumberAt(json, "loss"), .global_step = json["global_step"].get<int64_t>()};
  if (json.contains("steps") && json["steps"].is_number_integer()) record.steps = json["steps"].get<int64_t>();
  record.raw_weights = json.contains("raw_weights") && json["raw_weights"] == true;
  record.value = record.loss;
  if (!by_metric) return record;
  if (!json["metric"].is_string() || !json.contains("direction") ||
      (json["direction"] != "min" && json["direction"] != "max")) {
    return absl::DataLossError("the best-metric record has a metric without a name or a direction");
  }
  record.metric = json["metric"].get<std::string>();
  record.direction = json["direction"] == "min" ? MetricDirection::kMin : MetricDirection::kMax;
  record.value = NumberAt(json, "value");
  return record;
}

}  // namespace

KeepBest BestRecords::Rule(const std::string& evaluation) const {
  return keep_best_.has_value() && keep_best_->evaluation == evaluation ? *keep_best_ : KeepBest();
}

bool BestRecords::Update(const std::string& evaluation, const EvalResult& result, const EvalKind& kind) {
  const KeepBest rule = Rule(evaluation);
  const MetricDirection direction = OrMin(rule.direction);
  const double value = result[rule.metric];
  if (std::isnan(value)) return false;  // no later value would be better than a record of NaN
  auto it = records_.find(evaluation);
  if (it != records_.end() && it->second.raw_weights == kind.raw_weights) {
    const BestRecord& best = it->second;
    if (kind.steps != 0 && best.steps == 0) return false;
    if (kind.steps == best.steps && !IsBetter(value, best.value, direction)) return false;
  }
  records_[evaluation] = {.loss = result["loss"],
                          .global_step = result.global_step(),
                          .steps = kind.steps,
                          .raw_weights = kind.raw_weights,
                          .metric = rule.metric,
                          .direction = direction,
                          .value = value};
  return true;
}

std::string BestRecords::ToJson() const {
  if (records_.empty()) return "";
  // Begins as an object, not as null: converting null to an object aborts if memory runs out.
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, record] : records_) {
    auto entry = nlohmann::ordered_json::object();
    if (!std::isnan(record.loss)) entry["loss"] = NumberToJson(record.loss);
    entry["global_step"] = record.global_step;
    if (record.steps != 0) entry["steps"] = record.steps;
    if (record.raw_weights) entry["raw_weights"] = true;
    if (record.metric != "loss" || record.direction != MetricDirection::kMin) {
      entry["metric"] = record.metric;
      entry["direction"] = std::string(Name(record.direction));
      entry["value"] = NumberToJson(record.value);
    }
    json[name] = std::move(entry);
  }
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<BestRecords> BestRecords::FromJson(absl::string_view text) {
  BestRecords result;
  if (text.empty()) return result;
  const nlohmann::json json = ParseJson(text);
  if (!json.is_object()) return absl::DataLossError("the best-metric record is not a JSON object");
  for (const auto& [name, record] : json.items()) {
    TD_ASSIGN_OR_RETURN(result.records_[name], RecordFrom(record));
  }
  return result;
}

absl::Status BestRecords::Restore(absl::string_view json) {
  TD_ASSIGN_OR_RETURN(BestRecords restored, FromJson(json));
  records_.clear();
  for (auto& [name, record] : restored.records_) {
    const KeepBest rule = Rule(name);
    if (record.metric == rule.metric && record.direction == OrMin(rule.direction)) records_[name] = std::move(record);
  }
  return absl::OkStatus();
}

absl::Status BestRecords::AddFromLogs(Env* env, const std::string& model_dir, int64_t last_step) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env->ListDir(model_dir));
  for (absl::string_view dir : names) {
    if (dir != "eval" && !absl::StartsWith(dir, "eval_")) continue;
    const std::string name(dir == "eval" ? "" : dir.substr(5));
    TD_ASSIGN_OR_RETURN(const EvalHistory history, ReadEvalHistory(env, EvalDir(model_dir, name)));
    const auto known = records_.find(name);
    const bool as_known = known != records_.end() && known->second.steps == history.kind.steps &&
                          known->second.raw_weights == history.kind.raw_weights;
    if (history.kind.steps != 0 && !history.job && !as_known) continue;
    for (const auto& [step, result] : history.results) {
      if (step <= last_step) Update(name, result, history.kind);
    }
  }
  return absl::OkStatus();
}

std::set<int64_t> BestSteps(const EvalHistory& history, const KeepBest& keep_best, const std::vector<int64_t>& steps) {
  std::vector<std::pair<double, int64_t>> found;
  for (int64_t step : steps) {
    auto it = history.results.find(step);
    if (it == history.results.end()) continue;
    const double value = it->second[keep_best.metric];
    if (!std::isnan(value)) found.push_back({value, step});
  }
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    return a.first == b.first ? a.second < b.second : IsBetter(a.first, b.first, OrMin(keep_best.direction));
  });
  if (static_cast<int>(found.size()) > keep_best.count) found.resize(keep_best.count);
  std::set<int64_t> best;
  for (const auto& entry : found) best.insert(entry.second);
  return best;
}

}  // namespace tandem
