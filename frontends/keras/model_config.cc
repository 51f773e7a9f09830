#include "frontends/keras/model_config.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/json_string.h"
#include "base/status_macros.h"
#include "frontends/keras/option_layer.h"

namespace tandem::keras {
namespace {

// Files of Keras 2 number the calls of a nested model from 1, because the call that made the model counts as the first.
int FirstNumber(const LayerImpl& layer) { return dynamic_cast<const NetworkImpl*>(&layer) != nullptr ? 1 : 0; }

// Returns the number of `call` among the calls of its layer in `network`, as model files count them.
int NumberIn(const Network& network, const LayerCall& call) {
  const std::vector<LayerCallPtr> calls = network.CallsOf(call.layer.get());
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& c) { return c.get() == &call; });
  return FirstNumber(*call.layer) + static_cast<int>(found - calls.begin());
}

// Returns the layer's config as files have it: "name", "trainable" and "dtype", then the keys of its class.
absl::StatusOr<Json> LayerToConfig(const LayerImpl& layer) {
  absl::StatusOr<Json> own = layer.Config();
  if (!own.ok()) return Annotate(own.status(), absl::StrCat(layer.ToString(), ": "));
  if (layer.class_name() == "InputLayer") {
    (*own)["name"] = layer.name();
    return own;
  }
  if (dynamic_cast<const NetworkImpl*>(&layer) != nullptr) return own;
  Json config;
  config["name"] = layer.name();
  config["trainable"] = layer.trainable();
  config["dtype"] = "float32";
  if (!layer.input_shape().empty()) {
    Shape shape = {kBatch};
    shape.insert(shape.end(), layer.input_shape().begin(), layer.input_shape().end());
    config["batch_input_shape"] = ShapeToJson(shape);
  }
  for (auto& [key, value] : own->items()) config[key] = value;
  return config;
}

Json TensorsToJson(const Network& network, const KerasTensors& tensors) {
  Json list = Json::array();
  for (const KerasTensor& tensor : tensors) {
    list.push_back({tensor.call()->layer->name(), NumberIn(network, *tensor.call()), tensor.index()});
  }
  return list;
}

// Writes the inputs of a call as a list, or the first input with the others as its arguments: [["x", 0, 0, {"value":
// ["y", 0, 0]}]].
Json CallToJson(Json inputs, const InputNames& by_name) {
  if (by_name.required == 0) {
    for (Json& input : inputs) input.push_back(Json::object());
    return inputs;
  }
  Json named = Json::object();
  for (size_t i = 1; i < std::max(inputs.size(), by_name.required); ++i) {
    named[by_name.names[i]] = inputs[std::min(i, inputs.size() - 1)];
  }
  Json first = inputs[0];
  first.push_back(std::move(named));
  return Json::array({std::move(first)});
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> NetworkImpl::Config() const {
  TD_RETURN_IF_ERROR(status());
  Json config, list = Json::array();
  config["name"] = name();
  if (is_sequential_model()) {
    for (const auto& layer : network().layers()) {
      TD_ASSIGN_OR_RETURN(Json own, LayerToConfig(*layer));
      list.push_back({{"class_name", layer->class_name()}, {"config", std::move(own)}});
    }
    config["layers"] = std::move(list);
    return config;
  }
  config["trainable"] = LayerImpl::trainable();
  for (const auto& layer : network().layers()) {
    TD_ASSIGN_OR_RETURN(Json own, LayerToConfig(*layer));
    Json nodes = Json::array();
    for (const LayerCallPtr& call : network().CallsOf(layer.get())) {
      Json inputs = TensorsToJson(network(), call->inputs);
      if (!inputs.empty()) nodes.push_back(CallToJson(std::move(inputs), layer->input_names()));
    }
    list.push_back({{"class_name", layer->class_name()},
                    {"config", std::move(own)},
                    {"name", layer->name()},
                    {"inbound_nodes", std::move(nodes)}});
  }
  config["layers"] = std::move(list);
  config["input_layers"] = TensorsToJson(network(), network().inputs());
  config["output_layers"] = TensorsToJson(network(), network().outputs());
  return config;
}

absl::StatusOr<Json> ModelToConfig(const NetworkImpl& model) {
  TD_ASSIGN_OR_RETURN(Json config, model.Config());
  return Json{{"class_name", model.class_name()}, {"config", std::move(config)}};
}

namespace {

absl::Status Malformed(absl::string_view what, const Json& json) {
  std::string text = JsonString(json);
  constexpr size_t kShown = 200;
  if (text.size() > kShown) text = absl::StrCat(text.substr(0, kShown), "...");
  return absl::InvalidArgumentError(absl::StrCat("the model's config: ", what, ": ", text));
}

// True for the names of the inputs that Keras writes as separate arguments of attention layers.
bool IsInputName(const std::string& argument) {
  return argument == "query" || argument == "value" || argument == "key";
}

bool IsModelClass(const std::string& name) { return name == "Sequential" || name == "Functional" || name == "Model"; }

// Adds to `unknown` all class names in the model's config, nested models included, that the reader does not know.
void FindUnknownClasses(const Json& json, std::set<std::string>* unknown) {
  const Json* config = json.is_object() && json.contains("config") ? &json["config"] : &json;
  const Json* layers = config->is_array() ? config : nullptr;
  if (config->is_object() && config->contains("layers") && (*config)["layers"].is_array()) {
    layers = &(*config)["layers"];
  }
  if (layers == nullptr) return;
  for (const Json& layer : *layers) {
    if (!layer.is_object() || !layer.contains("class_name") || !layer["class_name"].is_string()) continue;
    const std::string name = layer["class_name"].get<std::string>();
    if (IsModelClass(name)) {
      FindUnknownClasses(layer, unknown);
    } else if (name != "InputLayer" && !IsLayerClass(name)) {
      unknown->insert(name);
    }
  }
}

class ModelReader {
 public:
  explicit ModelReader(SourceLocation loc) : loc_(loc) {}

  absl::StatusOr<std::shared_ptr<NetworkImpl>> Read(const Json& json) {
    if (!json.is_object() || !json.contains("class_name") || !json["class_name"].is_string() ||
        !json.contains("config")) {
      return Malformed("no \"class_name\" and \"config\"", json);
    }
    const std::string class_name = json["class_name"].get<std::string>();
    if (class_name == "Sequential") return ReadSequential(json["config"]);
    if (IsModelClass(class_name)) return ReadFunctional(json["config"]);
    return absl::InvalidArgumentError(
        absl::StrCat("the model's class \"", class_name, "\" is not known; a subclassed model has no description"));
  }

 private:
  // Returns the name of a model, or a default name if an old file has none.
  static std::string NameOf(const Json& config) {
    if (!config.is_object() || !config.contains("name") || !config["name"].is_string()) return "";
    return config["name"].get<std::string>();
  }

  absl::StatusOr<TensorSpec> InputSpec(const Json& config) {
    TensorSpec spec{DType::kFloat32, {}};
    const char* key = config.contains("batch_shape") ? "batch_shape" : "batch_input_shape";
    if (!config.contains(key)) return Malformed("an input without a shape", config);
    TD_RETURN_IF_ERROR(ShapeFromJson(config[key], &spec.shape));
    if (spec.shape.empty()) return Malformed("an input without a batch", config);
    spec.shape[0] = kBatch;
    for (size_t i = 1; i < spec.shape.size(); ++i) {
      if (spec.shape[i] == kBatch) return Malformed("an input with a size that varies", config);
    }
    if (config.contains("dtype") && config["dtype"].is_string()) {
      const std::string name = config["dtype"].get<std::string>();
      for (DType dtype :
           {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool}) {
        if (Name(dtype) == name) spec.dtype = dtype;
      }
    }
    return spec;
  }

  absl::StatusOr<std::shared_ptr<LayerImpl>> ReadLayer(const Json& json) {
    if (!json.is_object() || !json.contains("class_name") || !json["class_name"].is_string() ||
        !json.contains("config")) {
      return Malformed("a layer without \"class_name\" and \"config\"", json);
    }
    const std::string class_name = json["class_name"].get<std::string>();
    if (IsModelClass(class_name)) return Read(json);
    if (!json["config"].is_object()) return Malformed("a layer whose config is no object", json);
    return LayerFromConfig(class_name, json["config"], loc_);
  }

  absl::StatusOr<std::shared_ptr<NetworkImpl>> ReadSequential(const Json& config) {
    const Json& layers = config.is_array()                                 ? config
                         : config.is_object() && config.contains("layers") ? config["layers"]
                                                                           : config;
    if (!layers.is_array() || layers.empty()) return Malformed("a Sequential without layers", config);
    auto model = std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Sequential", .name = NameOf(config)}, loc_);
    std::optional<TensorSpec> input;
    std::string input_name;
    for (const Json& json : layers) {
      if (json.is_object() && json.value("class_name", "") == "InputLayer") {
        TD_ASSIGN_OR_RETURN(input, InputSpec(json["config"]));
        input_name = NameOf(json["config"]);
        continue;
      }
      TD_ASSIGN_OR_RETURN(const std::shared_ptr<LayerImpl> layer, ReadLayer(json));
      const bool has_shape = json["config"].is_object() && json["config"].contains("batch_input_shape");
      if (!input.has_value() && has_shape) {
        TD_ASSIGN_OR_RETURN(input, InputSpec(json["config"]));
      }
      model->Add(layer, loc_);
    }
    if (input.has_value() && !model->connected()) TD_RETURN_IF_ERROR(model->BuildFor(*input, loc_, input_name));
    return model;
  }

  // A tensor that the "inbound_nodes" of a layer refer to: the layer that computes it, the number of the call of that
  // layer, and the number of the result.
  struct Source {
    std::string layer;
    int64_t call = 0, result = 0;
  };
  struct Node {
    std::shared_ptr<LayerImpl> layer;
    std::vector<Source> sources;
  };

  absl::Status ReadSource(const Json& json, std::vector<Source>* sources) {
    const bool good = json.is_array() && json.size() >= 3 && json[0].is_string() && json[1].is_number_integer() &&
                      json[2].is_number_integer();
    if (!good) return Malformed("a layer's input is not [layer, call, result]", json);
    sources->push_back({json[0].get<std::string>(), json[1].get<int64_t>(), json[2].get<int64_t>()});
    if (json.size() <= 3 || !json[3].is_object()) return absl::OkStatus();
    for (const auto& [key, value] : json[3].items()) {
      if (value.is_null()) continue;
      if (!IsInputName(key) || !value.is_array()) {
        return Malformed(absl::StrCat("the argument \"", key, "\" of a call"), json);
      }
      TD_RETURN_IF_ERROR(ReadSource(value, sources));
    }
    return absl::OkStatus();
  }

  // Reads arguments as Keras 3 writes them: {"args": [...], "kwargs": {...}}, with tensors as objects anywhere in
  // lists.
  absl::Status ReadArguments(const Json& json, std::vector<Source>* sources) {
    if (json.is_array()) {
      for (const Json& item : json) TD_RETURN_IF_ERROR(ReadArguments(item, sources));
      return absl::OkStatus();
    }
    if (!json.is_object() || json.value("class_name", "") != "__keras_tensor__" || !json.contains("config") ||
        !json["config"].contains("keras_history")) {
      return json.is_null() ? absl::OkStatus() : Malformed("an argument that is no tensor", json);
    }
    return ReadSource(json["config"]["keras_history"], sources);
  }

  absl::Status ReadNodes(const Json& json, const std::shared_ptr<LayerImpl>& layer, std::vector<Node>* nodes) {
    if (!json.is_array()) return Malformed("\"inbound_nodes\" is no list", json);
    for (const Json& node : json) {
      Node& read = nodes->emplace_back();
      read.layer = layer;
      if (node.is_object() && node.contains("args")) {
        TD_RETURN_IF_ERROR(ReadArguments(node["args"], &read.sources));
        const Json named = node.value("kwargs", Json::object());
        for (const auto& [key, value] : named.items()) {
          if (value.is_null() || value == Json(false)) continue;
          if (!IsInputName(key)) return Malformed(absl::StrCat("the argument \"", key, "\" of a call"), node);
          TD_RETURN_IF_ERROR(ReadArguments(value, &read.sources));
        }
      } else if (node.is_array()) {
        for (const Json& source : node) TD_RETURN_IF_ERROR(ReadSource(source, &read.sources));
      } else {
        return Malformed("a call", node);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<NetworkImpl>> ReadFunctional(const Json& config) {
    for (const char* key : {"layers", "input_layers", "output_layers"}) {
      if (!config.is_object() || !config.contains(key) || !config[key].is_array()) {
        return Malformed(absl::StrCat("no list \"", key, "\""), config);
      }
    }
    // For each layer name, the results of each call of the layer.
    std::map<std::string, std::vector<KerasTensors>> results;
    std::vector<Node> nodes;
    for (const Json& json : config["layers"]) {
      if (json.is_object() && json.value("class_name", "") == "InputLayer" && json.contains("config")) {
        TD_ASSIGN_OR_RETURN(const TensorSpec spec, InputSpec(json["config"]));
        const std::string name = NameOf(json["config"]);
        results[name].push_back(InputTensor(name, spec, loc_));
        continue;
      }
      TD_ASSIGN_OR_RETURN(const std::shared_ptr<LayerImpl> layer, ReadLayer(json));
      if (!json.contains("inbound_nodes")) return Malformed("a layer without \"inbound_nodes\"", json);
      TD_RETURN_IF_ERROR(ReadNodes(json["inbound_nodes"], layer, &nodes));
    }
    constexpr const char* kEnds[] = {"input_layers", "output_layers"};
    std::vector<Source> end_sources[2];
    for (int i = 0; i < 2; ++i) {
      // In files of Keras 3, a list with one entry may be written without the outer brackets.
      const Json& list = config[kEnds[i]];
      const bool one = !list.empty() && list[0].is_string();
      for (const Json& json : one ? Json::array({list}) : list) {
        TD_RETURN_IF_ERROR(ReadSource(json, &end_sources[i]));
      }
    }
    // Calls of nested models count from 1 in Keras 2 and from 0 in Keras 3. Every call is used as an input or as an
    // output, so the smallest number that occurs for a layer is that of its first call.
    std::map<std::string, int64_t> first;
    const auto count_from = [&](const std::vector<Source>& sources) {
      for (const Source& source : sources) {
        int64_t& lowest = first.insert({source.layer, source.call}).first->second;
        lowest = std::min(lowest, source.call);
      }
    };
    for (const Node& node : nodes) count_from(node.sources);
    for (const auto& sources : end_sources) count_from(sources);
    // Returns the tensor, or null if the call that computes it has not been made yet.
    const auto find = [&](const Source& source) -> const KerasTensor* {
      const auto calls = results.find(source.layer);
      const int64_t number = source.call - first[source.layer];
      if (calls == results.end() || number < 0 || number >= static_cast<int64_t>(calls->second.size())) return nullptr;
      const KerasTensors& tensors = calls->second[number];
      const bool there = source.result >= 0 && source.result < static_cast<int64_t>(tensors.size());
      return there ? &tensors[source.result] : nullptr;
    };
    // Makes the calls as soon as their inputs exist, and the calls of one layer in their order.
    while (!nodes.empty()) {
      std::vector<Node> waiting;
      std::set<const LayerImpl*> held_up;
      for (Node& node : nodes) {
        KerasTensors inputs;
        for (const Source& source : node.sources) {
          if (const KerasTensor* tensor = find(source); tensor != nullptr) inputs.push_back(*tensor);
        }
        if (inputs.size() < node.sources.size() || held_up.contains(node.layer.get())) {
          held_up.insert(node.layer.get());
          waiting.push_back(std::move(node));
          continue;
        }
        KerasTensors outputs = node.layer->Call(inputs, loc_);
        TD_RETURN_IF_ERROR(outputs[0].status());
        results[node.layer->name()].push_back(std::move(outputs));
      }
      if (waiting.size() == nodes.size()) {
        return absl::InvalidArgumentError(absl::StrCat("the model's config: the inputs of ", waiting[0].layer->name(),
                                                       " are of layers that are not there, or of a cycle"));
      }
      nodes = std::move(waiting);
    }
    KerasTensors ends[2];
    for (int i = 0; i < 2; ++i) {
      for (const Source& source : end_sources[i]) {
        const KerasTensor* tensor = find(source);
        if (tensor == nullptr) {
          return Malformed("an input or output is of a layer that is not there", config[kEnds[i]]);
        }
        ends[i].push_back(*tensor);
      }
    }
    auto model = std::make_shared<NetworkImpl>(LayerNaming{.class_name = "Functional", .name = NameOf(config)}, loc_);
    model->Connect(ends[0], ends[1]);
    TD_RETURN_IF_ERROR(model->status());
    return model;
  }

  const SourceLocation loc_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<NetworkImpl>> ModelFromConfig(const Json& json, SourceLocation loc) {
  std::set<std::string> unknown;
  FindUnknownClasses(json, &unknown);
  if (!unknown.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model's config has classes that are not known: ", absl::StrJoin(unknown, ", "),
                     "; build the model in code and load its weights (LoadWeights)"));
  }
  return ModelReader(loc).Read(json);
}

}  // namespace tandem::keras
