#include "estimator/keras/fit_hook.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/status_macros.h"
#include "estimator/hooks/nan_tensor_hook.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {

absl::Status FitHook::Begin(HookContext& context) {
  metrics_ = model_->model_fn().training_metrics();
  if (!metrics_.has_value()) return absl::InternalError("the model_fn made no metrics of training");
  metrics_->Reset();
  for (const std::string& name : metrics_->fetches()) context.Fetch(name);
  epoch_ = options_.initial_epoch;
  return absl::OkStatus();
}

absl::Status FitHook::AfterCreateSession(RunContext& context) {
  if (restored_) TD_RETURN_IF_ERROR(metrics_->RestoreSums(restored_metrics_));
  model_->HoldValues();
  model_->set_context(&context);
  if (const std::optional<double> rate = model_->TakeRate(); rate.has_value() && !restored_) {
    TD_RETURN_IF_ERROR(context.SetStepScalar("learning_rate", *rate));
  }
  had_finished_ = epoch_ >= options_.epochs;
  if (had_finished_) return absl::OkStatus();
  TD_RETURN_IF_ERROR(callbacks_->OnTrainBegin());
  TD_RETURN_IF_ERROR(callbacks_->RestoreStates(restored_states_));
  restored_states_.clear();
  return ApplyChanges(context);
}

std::vector<std::string> FitHook::BeforeRun(RunContext& context) {
  model_->set_context(&context);
  if (had_finished_) {
    context.Fail(absl::AbortedError("the run is at its end"));
    return {};
  }
  if (!epoch_begun_) {
    epoch_begun_ = true;
    context.Fail(callbacks_->OnEpochBegin(epoch_));
  }
  context.Fail(callbacks_->OnTrainBatchBegin(batch_));
  context.Fail(ApplyChanges(context));
  return metrics_->fetches();
}

absl::Status FitHook::ApplyChanges(RunContext& context) {
  if (model_->stop_training) context.RequestStop("a callback");
  return model_->TakeValues(context);
}

absl::Status FitHook::AfterRun(RunContext& context, const RunValues& values) {
  model_->set_context(&context);
  if (!values.finite) return AfterNonFinite(context, values);
  TD_RETURN_IF_ERROR(metrics_->Add(values));
  TD_ASSIGN_OR_RETURN(const EvalResult result, metrics_->Result(values.step));
  logs_ = model_->LogsOf(result);
  TD_RETURN_IF_ERROR(callbacks_->OnTrainBatchEnd(batch_, logs_));
  ++batch_;
  const bool ends = options_.steps_per_epoch.has_value() ? batch_ >= *options_.steps_per_epoch : context.ends_pass();
  if (ends || model_->stop_training) TD_RETURN_IF_ERROR(EndEpoch(context));
  return ApplyChanges(context);
}

absl::Status FitHook::AfterNonFinite(RunContext& context, const RunValues& values) {
  if (!options_.ends_at_nan) return NanTensorHook(/*fail_on_nan=*/true).AfterRun(context, values);
  const double loss = values.Has("loss") ? values.Number("loss") : std::numeric_limits<double>::quiet_NaN();
  logs_.Set("loss", std::isfinite(loss) ? std::numeric_limits<double>::quiet_NaN() : loss);
  TD_RETURN_IF_ERROR(callbacks_->OnTrainBatchEnd(batch_, logs_));
  ++batch_;
  model_->stop_training = true;
  TD_RETURN_IF_ERROR(EndEpoch(context));
  return ApplyChanges(context);
}

absl::Status FitHook::EndEpoch(RunContext& context) {
  if (options_.validate != nullptr && (epoch_ + 1) % options_.validation_freq == 0) {
    TD_ASSIGN_OR_RETURN(const Logs validation, options_.validate());
    for (const auto& [name, value] : validation.values()) logs_.Set(absl::StrCat("val_", name), value);
  }
  TD_RETURN_IF_ERROR(callbacks_->OnEpochEnd(epoch_, logs_));
  ++epoch_;
  batch_ = 0;
  epoch_begun_ = false;
  metrics_->Reset();
  if (epoch_ >= options_.epochs || model_->stop_training) {
    epoch_ = options_.epochs;
    context.RequestStop(model_->stop_training ? "a callback" : "");
  } else if (options_.in_directory) {
    TD_RETURN_IF_ERROR(context.RequestSave());
  }
  return absl::OkStatus();
}

absl::StatusOr<HookState> FitHook::SaveState() {
  HookState state;
  nlohmann::ordered_json json;
  json["epoch"] = epoch_;
  json["batch"] = batch_;
  json["history_epochs"] = history_->epoch;
  for (const auto& [name, values] : history_->history) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (double value : values) list.push_back(NumberToJson(value));
    json["history"][name] = std::move(list);
  }
  state.tensors = metrics_->SavedSums();
  TD_ASSIGN_OR_RETURN(const auto states, callbacks_->SaveStates());
  json["callbacks"] = nlohmann::ordered_json::object();
  int64_t tensors = 0;
  for (const auto& [key, of_callback] : states) {
    nlohmann::ordered_json& entry = json["callbacks"][key];
    entry["text"] = of_callback.text;
    entry["tensors"] = nlohmann::ordered_json::object();
    for (const auto& [name, tensor] : of_callback.tensors) {
      const std::string attachment = absl::StrCat("callbacks/", tensors++);
      entry["tensors"][name] = attachment;
      state.tensors[attachment] = tensor;
    }
  }
  state.text = JsonString(json);
  return state;
}

absl::Status FitHook::RestoreState(const HookState& state) {
  const auto malformed = [] { return absl::DataLossError("the state of keras::Fit is damaged"); };
  const nlohmann::json json = ParseJson(state.text);
  if (!json.is_object() || !json.contains("epoch") || !json["epoch"].is_number_integer() || !json.contains("batch") ||
      !json["batch"].is_number_integer() || !json.contains("history_epochs") || !json["history_epochs"].is_array() ||
      !json.contains("callbacks") || !json["callbacks"].is_object()) {
    return malformed();
  }
  History history;
  for (const auto& epoch : json["history_epochs"]) {
    if (!epoch.is_number_integer()) return malformed();
    history.epoch.push_back(epoch.get<int64_t>());
  }
  const nlohmann::json values = json.value("history", nlohmann::json::object());
  if (!values.is_object()) return malformed();
  for (const auto& [name, list] : values.items()) {
    if (!list.is_array()) return malformed();
    for (const auto& value : list) {
      const std::optional<double> number = NumberFromJson(value);
      if (!number.has_value()) return malformed();
      history.history[name].push_back(*number);
    }
  }
  NamedTensors tensors = state.tensors;
  std::map<std::string, CallbackState> states;
  for (const auto& [key, entry] : json["callbacks"].items()) {
    if (!entry.is_object() || !entry.contains("text") || !entry["text"].is_string() || !entry.contains("tensors") ||
        !entry["tensors"].is_object()) {
      return malformed();
    }
    CallbackState& of_callback = states[key];
    of_callback.text = entry["text"].get<std::string>();
    for (const auto& [name, attachment] : entry["tensors"].items()) {
      if (!attachment.is_string()) return malformed();
      const auto tensor = tensors.find(attachment.get<std::string>());
      if (tensor == tensors.end()) return malformed();
      of_callback.tensors[name] = std::move(tensor->second);
      tensors.erase(tensor);
    }
  }
  epoch_ = json["epoch"].get<int64_t>();
  batch_ = json["batch"].get<int64_t>();
  epoch_begun_ = batch_ > 0;
  *history_ = std::move(history);
  restored_states_ = std::move(states);
  restored_metrics_ = std::move(tensors);
  restored_ = true;
  return absl::OkStatus();
}

absl::Status TestHook::Begin(HookContext& context) {
  metrics_ = model_->model_fn().evaluation_metrics();
  if (!metrics_.has_value()) return absl::InternalError("the model_fn made no metrics of evaluation");
  metrics_->Reset();
  for (const std::string& name : metrics_->fetches()) context.Fetch(name);
  return absl::OkStatus();
}

std::vector<std::string> TestHook::BeforeRun(RunContext& context) {
  if (batch_ < batches_.value_or(0)) context.Fail(callbacks_->OnTestBatchBegin(batch_));
  return metrics_->fetches();
}

absl::Status TestHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!batches_.has_value()) TD_RETURN_IF_ERROR(callbacks_->OnTestBatchBegin(batch_));
  TD_RETURN_IF_ERROR(metrics_->Add(values));
  TD_ASSIGN_OR_RETURN(const EvalResult result, metrics_->Result(values.step));
  return callbacks_->OnTestBatchEnd(batch_++, model_->LogsOf(result));
}

}  // namespace tandem::keras
