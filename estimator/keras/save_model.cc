// Saves a Model: all of it, or its weights.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/annotate.h"
#include "base/env.h"
#include "base/json_string.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "data/files/hdf5_attributes.h"
#include "data/files/hdf5_tree.h"
#include "data/files/hdf5_writer.h"
#include "data/files/zip_writer.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/keras/compiled_model.h"
#include "estimator/keras/files/model_weights.h"
#include "estimator/keras/files/optimizer_state.h"
#include "estimator/keras/model.h"
#include "estimator/keras/training_config.h"
#include "frontends/keras/model_config.h"

namespace tandem::keras {
namespace {

// The Keras version whose format is written.
constexpr char kVersion[] = "2.15.0";

const NetworkImpl& NetworkFor(const Model& model) { return static_cast<const NetworkImpl&>(*model.impl()); }

void SetOrigin(Hdf5Group* group) {
  group->attributes["backend"] = Hdf5Value::String("tensorflow");
  group->attributes["keras_version"] = Hdf5Value::String(kVersion);
}

// Writes the layers as groups in Keras 2's layout.
absl::Status WriteLayerGroups(const NetworkImpl& model, Hdf5Group* root) {
  SetOrigin(root);
  std::vector<std::string> layers;
  for (const ModelLayer& layer : LayersInOrder(model)) {
    layers.push_back(layer.key);
    Hdf5Group& group = root->MakeGroup(layer.key);
    std::vector<std::string> names;
    std::map<std::string, const WeightCell*> written;
    for (const auto& cell : layer.cells) {
      const std::string name = absl::StrCat(cell->FullName(), ":0");
      if (const auto [other, fresh] = written.insert({name, cell.get()}); !fresh) {
        return absl::InvalidArgumentError(absl::StrCat(
            layer.layer->ToString(), ": two of its weights are called \"", cell->FullName(), "\" in a file: of ",
            other->second->layer->ToString(), " and ", cell->layer->ToString(), "; give one of these another .name"));
      }
      TD_ASSIGN_OR_RETURN(HostTensor value, cell->Value());
      group.MakeDataset(name, std::move(value));
      names.push_back(name);
    }
    TD_RETURN_IF_ERROR(SetStringList(&group, "weight_names", names));
  }
  TD_RETURN_IF_ERROR(SetStringList(&root->MakeGroup("top_level_model_weights"), "weight_names", {}));
  return SetStringList(root, "layer_names", layers);
}

// Writes the weights as groups in the layout of .weights.h5.
absl::Status WriteVariableGroups(const NetworkImpl& model, Hdf5Group* root) {
  for (const ModelLayer& layer : LayersByPath(model)) {
    Hdf5Group& vars = root->MakeGroup(absl::StrCat(layer.key, "/vars"));
    for (size_t i = 0; i < layer.cells.size(); ++i) {
      TD_ASSIGN_OR_RETURN(HostTensor value, layer.cells[i]->Value());
      vars.MakeDataset(absl::StrCat(i), std::move(value));
    }
  }
  root->MakeGroup("layers");
  root->MakeGroup("vars");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::pair<std::string, HostTensor>>> StateOf(const Model& model) {
  const CompiledModel* compiled = model.compiled();
  if (compiled == nullptr) return std::vector<std::pair<std::string, HostTensor>>();
  TD_ASSIGN_OR_RETURN(const std::optional<OptimizerState> state, compiled->ReadOptimizerState());
  if (!state.has_value()) return std::vector<std::pair<std::string, HostTensor>>();
  TD_ASSIGN_OR_RETURN(const VariableNames names, VariableNamesOf(NetworkFor(model)));
  return StateToFile(NetworkFor(model), names, compiled->options().optimizer, *state);
}

absl::Status WriteOptimizerGroup(const Model& model, Hdf5Group* root) {
  TD_ASSIGN_OR_RETURN(const auto state, StateOf(model));
  if (state.empty()) return absl::OkStatus();
  Hdf5Group& group = root->MakeGroup("optimizer_weights");
  std::vector<std::string> names;
  std::set<std::string> used;
  for (const auto& [name, value] : state) {
    // Two weights of nested models may have the same name. The file needs different ones, and a reader goes by their
    // order.
    std::string own = name;
    for (int i = 1; !used.insert(own).second; ++i) own = absl::StrCat(name, "_", i);
    group.MakeDataset(own, value);
    names.push_back(own);
  }
  return SetStringList(&group, "weight_names", names);
}

// Returns the arguments of Compile as JSON. If a file cannot express them, logs a warning and returns nothing.
std::optional<Json> TrainingConfigFor(const Model& model, const std::string& path) {
  const CompiledModel* compiled = model.compiled();
  if (compiled == nullptr || compiled->options().loss.empty()) return std::nullopt;
  const absl::StatusOr<double> rate = model.LearningRate();
  std::vector<ConfigOutput> outputs;
  for (const std::string& name : compiled->model_fn().output_names()) {
    outputs.push_back({name, NetworkFor(model).network().outputs()[outputs.size()].shape().back()});
  }
  absl::StatusOr<Json> config =
      TrainingConfigOf(compiled->options(), outputs, rate.ok() ? std::optional<double>(*rate) : std::nullopt);
  if (config.ok()) return *std::move(config);
  TD_LOG(WARNING) << path << ": the model is saved without what it was compiled with: " << config.status().message()
                  << ". It has to be compiled again when it is loaded.";
  return std::nullopt;
}

absl::Status SaveHdf5Model(const Model& model, const std::string& path) {
  Hdf5Group root;
  SetOrigin(&root);
  TD_ASSIGN_OR_RETURN(const Json config, ModelToConfig(NetworkFor(model)));
  root.attributes["model_config"] = Hdf5Value::String(JsonString(config));
  TD_RETURN_IF_ERROR(WriteLayerGroups(NetworkFor(model), &root.MakeGroup("model_weights")));
  if (const std::optional<Json> training = TrainingConfigFor(model, path); training.has_value()) {
    root.attributes["training_config"] = Hdf5Value::String(JsonString(*training));
    TD_RETURN_IF_ERROR(WriteOptimizerGroup(model, &root));
  }
  return WriteHdf5(Env::Default(), path, root);
}

// Writes the optimizer's state as "optimizer/vars/0" and so on.
absl::Status WriteOptimizerVariables(const Model& model, Hdf5Group* root) {
  TD_ASSIGN_OR_RETURN(const auto state, StateOf(model));
  for (size_t i = 0; i < state.size(); ++i) {
    root->MakeDataset(absl::StrCat("optimizer/vars/", i), state[i].second);
  }
  return absl::OkStatus();
}

// Keras' loader of .keras files does not know MeanMetricWrapper. It takes the word "accuracy" for the function that
// fits the labels.
void NameWrappedMetrics(Json* metrics) {
  if (metrics->is_object() && metrics->value("class_name", "") == "MeanMetricWrapper") {
    const std::string function = (*metrics)["config"]["fn"].get<std::string>();
    *metrics = absl::EndsWith(function, "accuracy")       ? "accuracy"
               : absl::EndsWith(function, "crossentropy") ? "crossentropy"
                                                          : function;
  } else if (metrics->is_array() || metrics->is_object()) {
    for (Json& metric : *metrics) NameWrappedMetrics(&metric);
  }
}

// Returns the model's description in a .keras file: {"module": "keras", "class_name": ..., "config": ...,
// "compile_config": ...}. Layers are described as in HDF5 files, which Keras accepts here too.
absl::StatusOr<Json> ArchiveConfigOf(const Model& model, const std::optional<Json>& training) {
  TD_ASSIGN_OR_RETURN(Json described, ModelToConfig(NetworkFor(model)));
  Json config;
  const bool sequential = NetworkFor(model).is_sequential_model();
  config["module"] = sequential ? "keras" : "keras.src.engine.functional";
  config["class_name"] = described["class_name"];
  config["config"] = std::move(described["config"]);
  config["registered_name"] = sequential ? Json(nullptr) : described["class_name"];
  if (!training.has_value()) return config;
  Json compiled = *training;
  Json optimizer = std::move(compiled["optimizer_config"]);
  compiled.erase("optimizer_config");
  if (compiled.contains("metrics")) NameWrappedMetrics(&compiled["metrics"]);
  const std::string class_name = optimizer["class_name"].get<std::string>();
  compiled["optimizer"] = {{"module", "keras.optimizers"},
                           {"class_name", std::string(absl::StripPrefix(class_name, "Custom>"))},
                           {"config", std::move(optimizer["config"])},
                           {"registered_name", nullptr}};
  config["compile_config"] = std::move(compiled);
  return config;
}

absl::Status SaveArchive(const Model& model, const std::string& path) {
  const std::optional<Json> training = TrainingConfigFor(model, path);
  TD_ASSIGN_OR_RETURN(const Json config, ArchiveConfigOf(model, training));
  Hdf5Group root;
  TD_RETURN_IF_ERROR(WriteVariableGroups(NetworkFor(model), &root));
  if (training.has_value()) TD_RETURN_IF_ERROR(WriteOptimizerVariables(model, &root));
  TD_ASSIGN_OR_RETURN(const std::string weights, SerializeHdf5(root));
  const std::string metadata = JsonString(Json{{"keras_version", kVersion}}), text = JsonString(config);
  TD_ASSIGN_OR_RETURN(
      const std::string archive,
      SerializeZip({{"metadata.json", {metadata}}, {"config.json", {text}}, {"model.weights.h5", {weights}}},
                   "a .keras file"));
  return Env::Default()->WriteFileAtomically(path, archive);
}

absl::Status SaveSafetensors(const Model& model, const std::string& path) {
  TD_ASSIGN_OR_RETURN(const VariableNames names, VariableNamesOf(NetworkFor(model)));
  TensorMap tensors;
  for (const ModelLayer& layer : LayersByVariable(NetworkFor(model), names)) {
    TD_ASSIGN_OR_RETURN(tensors[layer.key], layer.cells[0]->Value());
  }
  TD_ASSIGN_OR_RETURN(const SafetensorsImage image, SerializeSafetensors(tensors));
  return Env::Default()->WriteFileAtomically(path, absl::StrJoin(image.Pieces(), ""));
}

bool IsHdf5Name(const std::string& path) { return absl::EndsWith(path, ".h5") || absl::EndsWith(path, ".hdf5"); }

}  // namespace

absl::Status Model::Save(const std::string& path) const {
  TD_RETURN_IF_ERROR(status());
  const auto save = [&]() -> absl::Status {
    if (absl::EndsWith(path, ".weights.h5")) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is a name of a file of weights; call SaveWeights, or give the model another name"));
    }
    if (IsHdf5Name(path)) return SaveHdf5Model(*this, path);
    if (absl::EndsWith(path, ".keras")) return SaveArchive(*this, path);
    return absl::InvalidArgumentError(
        absl::StrCat("the format of \"", path, "\" is not known; its name must end with .h5, .hdf5 or .keras"));
  };
  return Annotate(CatchResourceErrors("saving a model", save), absl::StrCat("Save of \"", name(), "\": "));
}

absl::Status Model::SaveWeights(const std::string& path) const {
  TD_RETURN_IF_ERROR(status());
  const auto save = [&]() -> absl::Status {
    if (absl::EndsWith(path, ".safetensors")) return SaveSafetensors(*this, path);
    Hdf5Group root;
    if (absl::EndsWith(path, ".weights.h5")) {
      TD_RETURN_IF_ERROR(WriteVariableGroups(NetworkFor(*this), &root));
    } else if (IsHdf5Name(path)) {
      TD_RETURN_IF_ERROR(WriteLayerGroups(NetworkFor(*this), &root));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("the format of \"", path,
                                                     "\" is not known; its name must end with .h5, .hdf5, .weights.h5 "
                                                     "or .safetensors"));
    }
    return WriteHdf5(Env::Default(), path, root);
  };
  return Annotate(CatchResourceErrors("saving weights", save), absl::StrCat("SaveWeights of \"", name(), "\": "));
}

}  // namespace tandem::keras
