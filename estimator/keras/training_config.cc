#include "estimator/keras/training_config.h"

#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/annotate.h"
#include "base/json_string.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "frontends/keras/layer_config.h"
#include "frontends/keras/optimizers.h"

namespace tandem::keras {
namespace {

// Returns the JSON of a loss or metric: its name, "mse", or {"class_name": ..., "config": ...}. InvalidArgument if it
// is a function without a name.
absl::StatusOr<Json> ArgumentToJson(const PartConfig::Value& config, absl::string_view what) {
  if (const auto* name = std::get_if<std::string>(&config)) return Json(*name);
  if (const auto* part = std::get_if<std::shared_ptr<const PartConfig>>(&config)) return PartToJson(**part, "");
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " is a function without a name, which a file cannot have"));
}

// Writes words such as "accuracy" as the function that they stand for here. When Keras loads the model, it would choose
// the function from the outputs alone.
absl::StatusOr<Json> MetricToJson(const MetricArg& metric, const ConfigOutput& output, const LossArg& loss, bool only) {
  const auto* word = std::get_if<std::string>(&metric.config());
  const std::string lower = word != nullptr ? absl::AsciiStrToLower(*word) : "";
  const bool accuracy = lower == "accuracy" || lower == "acc";
  if (!accuracy && lower != "crossentropy" && lower != "ce") {
    return ArgumentToJson(metric.config(), absl::StrCat("metric \"", metric.name(), "\""));
  }
  TD_ASSIGN_OR_RETURN(const Json of_loss,
                      loss.empty() ? absl::StatusOr<Json>(Json()) : ArgumentToJson(loss.config(), "loss"));
  const bool sparse = absl::StrContains(absl::AsciiStrToLower(JsonString(of_loss)), "sparse");
  const absl::string_view kind = output.size == 1 ? "binary_" : sparse ? "sparse_categorical_" : "categorical_";
  return Json{{"class_name", "MeanMetricWrapper"},
              {"config",
               {{"name", only ? metric.name() : absl::StrCat(output.name, "_", metric.name())},
                {"dtype", "float32"},
                {"fn", absl::StrCat(kind, accuracy ? "accuracy" : "crossentropy")}}}};
}

// Replaces functions as Keras 3 describes them, {"class_name": "function", "config": "mean_squared_error"}, by their
// names.
Json WithoutFunctions(const Json& json) {
  if (json.is_object() && json.value("class_name", Json()) == "function" && json.contains("config") &&
      json["config"].is_string()) {
    return json["config"];
  }
  if (!json.is_structured()) return json;
  Json plain = json;
  for (Json& value : plain) value = WithoutFunctions(value);
  return plain;
}

bool IsPart(const Json& json) { return json.is_object() && json.contains("class_name"); }

absl::Status Unknown(absl::string_view what, const Json& json) {
  return absl::InvalidArgumentError(absl::StrCat("the ", what, " is not understood: ", JsonString(json)));
}

absl::StatusOr<LossArg> LossOf(const Json& json) {
  if (json.is_null()) return LossArg();
  if (json.is_string()) return LossByName(json.get<std::string>());
  if (!IsPart(json)) return Unknown("loss", json);
  PartConfig part;
  TD_RETURN_IF_ERROR(Annotate(PartFromJson(json, &part), "loss "));
  if (part.class_name != "LossFunctionWrapper") return LossFromConfig(part);
  for (const auto& [key, value] : part.values) {
    if (key == "fn" && std::holds_alternative<std::string>(value)) return LossByName(std::get<std::string>(value));
  }
  return Unknown("loss", json);
}

absl::StatusOr<LossArgs> LossesOf(const Json& json, const std::vector<std::string>& outputs) {
  std::map<std::string, LossArg> by_output;
  if (json.is_array()) {
    if (json.size() > outputs.size()) return Unknown("loss", json);
    for (size_t i = 0; i < json.size(); ++i) {
      TD_ASSIGN_OR_RETURN(by_output[outputs[i]], LossOf(json[i]));
    }
  } else if (json.is_object() && !IsPart(json)) {
    for (const auto& [output, loss] : json.items()) {
      TD_ASSIGN_OR_RETURN(by_output[output], LossOf(loss));
    }
  } else {
    TD_ASSIGN_OR_RETURN(LossArg all, LossOf(json));
    return all.empty() ? LossArgs() : LossArgs(std::move(all));
  }
  return LossArgs(std::move(by_output));
}

// In files of models with several outputs, metrics' names begin with the name of their output. If the name begins with
// `output`, that is removed.
absl::StatusOr<MetricArg> MetricOf(const Json& json, absl::string_view output) {
  if (json.is_string()) return MetricByName(json.get<std::string>());
  if (!IsPart(json)) return Unknown("metric", json);
  PartConfig part;
  TD_RETURN_IF_ERROR(Annotate(PartFromJson(json, &part), "metric "));
  TD_ASSIGN_OR_RETURN(const MetricArg metric, MetricFromConfig(part));
  absl::string_view name = metric.name();
  if (!output.empty() && absl::ConsumePrefix(&name, absl::StrCat(output, "_"))) {
    return metric.WithName(std::string(name));
  }
  return metric;
}

absl::Status AddMetrics(const Json& json, absl::string_view output, std::vector<MetricArg>* metrics) {
  if (json.is_null()) return absl::OkStatus();
  if (json.is_array()) {
    for (const Json& one : json) TD_RETURN_IF_ERROR(AddMetrics(one, output, metrics));
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(MetricArg metric, MetricOf(json, output));
  metrics->push_back(std::move(metric));
  return absl::OkStatus();
}

absl::StatusOr<MetricArgs> MetricsOf(const Json& json, const std::vector<std::string>& outputs) {
  std::map<std::string, std::vector<MetricArg>> by_output;
  const bool only = outputs.size() == 1;
  if (json.is_object() && !IsPart(json)) {
    for (const auto& [output, list] : json.items()) {
      TD_RETURN_IF_ERROR(AddMetrics(list, only ? "" : output, &by_output[output]));
    }
    return MetricArgs(std::move(by_output));
  }
  // A list of lists has one list of metrics for each output. The metrics of a plain list are for every output.
  const bool nested = json.is_array() && !json.empty() && (json[0].is_array() || json[0].is_null());
  if (nested && !only) {
    if (json.size() > outputs.size()) return Unknown("list of metrics", json);
    for (size_t i = 0; i < json.size(); ++i) {
      TD_RETURN_IF_ERROR(AddMetrics(json[i], outputs[i], &by_output[outputs[i]]));
    }
    return MetricArgs(std::move(by_output));
  }
  std::vector<MetricArg> all;
  TD_RETURN_IF_ERROR(AddMetrics(json, "", &all));
  return MetricArgs(std::move(all));
}

absl::StatusOr<std::map<std::string, double>> LossWeightsOf(const Json& json, const std::vector<std::string>& outputs) {
  std::map<std::string, double> weights;
  if (json.is_null()) return weights;
  if (json.is_object()) {
    for (const auto& [output, weight] : json.items()) {
      if (!weight.is_number()) return Unknown("weight of a loss", json);
      weights[output] = weight.get<double>();
    }
    return weights;
  }
  if (json.is_number() && outputs.size() == 1) return std::map<std::string, double>{{outputs[0], json.get<double>()}};
  if (!json.is_array() || json.size() > outputs.size()) return Unknown("list of weights of losses", json);
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number()) return Unknown("weight of a loss", json);
    weights[outputs[i]] = json[i].get<double>();
  }
  return weights;
}

absl::StatusOr<Optimizer> OptimizerOf(const Json& config, SourceLocation loc) {
  const Json* json = nullptr;
  for (const char* key : {"optimizer_config", "optimizer"}) {
    if (config.contains(key)) json = &config[key];
  }
  if (json == nullptr || json->is_null()) return absl::InvalidArgumentError("it has no optimizer");
  if (json->is_string()) return OptimizerByName(json->get<std::string>(), loc);
  PartConfig part;
  TD_RETURN_IF_ERROR(Annotate(PartFromJson(*json, &part), "optimizer "));
  return OptimizerFromConfig(part, loc);
}

}  // namespace

absl::StatusOr<Json> TrainingConfigOf(const CompileOptions& options, const std::vector<ConfigOutput>& outputs,
                                      std::optional<double> rate) {
  Json config, loss, metrics, weights;
  if (!options.loss.by_output().empty()) {
    for (const auto& [output, arg] : options.loss.by_output()) {
      if (arg.empty()) continue;
      TD_ASSIGN_OR_RETURN(loss[output], ArgumentToJson(arg.config(), absl::StrCat("loss of \"", output, "\"")));
    }
  } else if (!options.loss.empty()) {
    TD_ASSIGN_OR_RETURN(loss, ArgumentToJson(options.loss.all().config(), "loss"));
  }
  for (const ConfigOutput& output : outputs) {
    std::vector<MetricArg> args = options.metrics.all();
    const auto own = options.metrics.by_output().find(output.name);
    if (own != options.metrics.by_output().end()) args = own->second;
    const auto own_loss = options.loss.by_output().find(output.name);
    const LossArg& of_output = own_loss != options.loss.by_output().end() ? own_loss->second : options.loss.all();
    if (args.empty()) continue;
    Json list = Json::array();
    for (const MetricArg& arg : args) {
      TD_ASSIGN_OR_RETURN(Json metric, MetricToJson(arg, output, of_output, outputs.size() == 1));
      list.push_back(std::move(metric));
    }
    (outputs.size() == 1 ? metrics : metrics[output.name]) = std::move(list);
  }
  for (const auto& [output, weight] : options.loss_weights) weights[output] = weight;
  config["loss"] = std::move(loss);
  config["metrics"] = std::move(metrics);
  config["weighted_metrics"] = nullptr;
  config["loss_weights"] = std::move(weights);
  PartConfig optimizer = options.optimizer.config();
  if (!optimizer.named()) {
    return absl::InvalidArgumentError("the optimizer is none of Keras', and a file cannot name it");
  }
  for (auto& [key, value] : optimizer.values) {
    if (key == "learning_rate" && rate.has_value() && std::holds_alternative<double>(value)) {
      value = static_cast<double>(static_cast<float>(*rate));
    }
  }
  optimizer.class_name = absl::StrCat("Custom>", optimizer.class_name);
  config["optimizer_config"] = PartToJson(optimizer, "");
  return config;
}

absl::StatusOr<CompileOptions> CompileOptionsOf(const Json& config, const std::vector<std::string>& outputs,
                                                SourceLocation loc) {
  if (!config.is_object()) return absl::InvalidArgumentError("it is no object");
  const Json plain = WithoutFunctions(config);
  CompileOptions options;
  TD_ASSIGN_OR_RETURN(options.optimizer, OptimizerOf(plain, loc));
  TD_ASSIGN_OR_RETURN(options.loss, LossesOf(plain.value("loss", Json()), outputs));
  TD_ASSIGN_OR_RETURN(options.metrics, MetricsOf(plain.value("metrics", Json()), outputs));
  TD_ASSIGN_OR_RETURN(options.loss_weights, LossWeightsOf(plain.value("loss_weights", Json()), outputs));
  const Json weighted = plain.value("weighted_metrics", Json());
  if (!weighted.is_null() && !weighted.empty()) {
    TD_LOG(WARNING) << "The file's weighted metrics are left out: " << JsonString(weighted);
  }
  return options;
}

}  // namespace tandem::keras
