#include "estimator/evaluation/reduce_on_plateau.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/evaluation/metric_value.h"

namespace tandem {

absl::Status ReduceOnPlateau::Validate() const {
  std::string problem;
  if (metric.empty()) {
    problem = "metric is empty; name one of the evaluation, such as \"loss\"";
  } else if (std::string unknown = DirectionProblem(metric, direction); !unknown.empty()) {
    problem = unknown;
  } else if (!(factor > 0 && factor < 1)) {
    problem = absl::StrCat("factor must be in (0, 1), got ", factor);
  } else if (patience < 0 || cooldown < 0) {
    problem = absl::StrCat("patience and cooldown must not be negative, got ", patience, " and ", cooldown);
  } else if (!(std::isfinite(min_delta) && min_delta >= 0)) {
    problem = absl::StrCat("min_delta must be a number >= 0, got ", min_delta);
  } else if (!(std::isfinite(min_learning_rate) && min_learning_rate >= 0)) {
    problem = absl::StrCat("min_learning_rate must be a number >= 0, got ", min_learning_rate);
  }
  return problem.empty() ? absl::OkStatus() : absl::InvalidArgumentError("ReduceOnPlateau: " + problem);
}

bool PlateauState::Observe(const ReduceOnPlateau& rule, int64_t global_step, double value) {
  seen_ = global_step;
  if (cooldown_ > 0) {
    --cooldown_;
    wait_ = 0;
  }
  const double sign = OrMin(rule.direction) == MetricDirection::kMax ? -1 : 1;
  const double best = std::isnan(best_) ? std::numeric_limits<double>::infinity() : sign * best_ - rule.min_delta;
  if (sign * value < best) {
    best_ = value;
    wait_ = 0;
    return false;
  }
  if (cooldown_ > 0 || ++wait_ < rule.patience) return false;
  cooldown_ = rule.cooldown;
  wait_ = 0;
  return true;
}

std::string PlateauState::ToJson() const {
  auto json = nlohmann::ordered_json::object();
  if (!std::isnan(best_)) json["best"] = NumberToJson(best_);
  json["wait"] = wait_;
  json["cooldown"] = cooldown_;
  json["seen"] = seen_;
  json["due"] = due_;
  return json.dump();
}

absl::StatusOr<PlateauState> PlateauState::FromJson(absl::string_view text) {
  PlateauState state;
  if (text.empty()) return state;
  const nlohmann::json json = ParseJson(text);
  const auto integer = [&](const char* key) { return json.contains(key) && json[key].is_number_integer(); };
  if (!json.is_object() || !integer("wait") || !integer("cooldown") || !integer("seen") || !json.contains("due") ||
      !json["due"].is_boolean() || (json.contains("best") && !NumberFromJson(json["best"]).has_value())) {
    return absl::DataLossError("the checkpoint's record of ReduceOnPlateau cannot be read");
  }
  if (json.contains("best")) state.best_ = *NumberFromJson(json["best"]);
  state.wait_ = json["wait"].get<int64_t>();
  state.cooldown_ = json["cooldown"].get<int64_t>();
  state.seen_ = json["seen"].get<int64_t>();
  state.due_ = json["due"].get<bool>();
  return state;
}

absl::Status PlateauHook::RestoreState(const HookState& state) {
  TD_ASSIGN_OR_RETURN(state_, PlateauState::FromJson(state.text));
  return absl::OkStatus();
}

absl::Status PlateauHook::AfterCreateSession(RunContext& context) {
  if (options_.scalars->LearningRates().empty()) {
    return absl::FailedPreconditionError(
        "the model has no learning rate that is a number; one that is a schedule follows from the global step and "
        "cannot be reduced: give the optimizer a number, or leave ReduceOnPlateau out");
  }
  evaluate_first_ = false;
  const int64_t step = context.global_step();
  if (state_.seen() >= step) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const std::optional<EvalResult> result, options_.recorded(step));
  // A recorded result may lack the metric, because the model did not have it then. Such a result is ignored.
  if (result.has_value() && result->Has(options_.rule.metric)) return Observe(*result);
  // The last process was to evaluate this checkpoint but ended before.
  evaluate_first_ = state_.due();
  return absl::OkStatus();
}

std::vector<std::string> PlateauHook::BeforeRun(RunContext& context) {
  if (!evaluate_first_) return {};
  evaluate_first_ = false;
  if (options_.evaluate) context.Fail(options_.evaluate());
  return {};
}

absl::Status PlateauHook::Observe(const EvalResult& result) {
  const ReduceOnPlateau& rule = options_.rule;
  TD_ASSIGN_OR_RETURN(const double value, MetricOf(result, rule.metric, "ReduceOnPlateau"));
  const int64_t global_step = result.global_step();
  if (global_step <= state_.seen()) return absl::OkStatus();
  const bool reduce = state_.Observe(rule, global_step, value);
  for (const std::string& name : reduce ? options_.scalars->LearningRates() : std::vector<std::string>()) {
    TD_ASSIGN_OR_RETURN(const double old, options_.scalars->Get(name));
    if (old <= rule.min_learning_rate) continue;
    const double reduced = std::max(old * rule.factor, rule.min_learning_rate);
    TD_RETURN_IF_ERROR(options_.scalars->Set(name, reduced));
    TD_LOG(INFO) << "ReduceOnPlateau: " << rule.metric << " = " << value << " at step " << global_step
                 << " is no better; " << name << " goes from " << old << " to " << reduced << ".";
  }
  return absl::OkStatus();
}

void PlateauHook::BeforeSave(bool will_be_evaluated) { state_.set_due(will_be_evaluated); }

}  // namespace tandem
