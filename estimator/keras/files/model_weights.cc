#include "estimator/keras/files/model_weights.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/graph_builder.h"

namespace tandem::keras {
namespace {

// Returns the name of the attribute in which a Keras layer has the inner layer that Tandem calls `part`.
std::string AttributeOf(const std::string& part) {
  static const auto& attributes = *new std::map<std::string, std::string>{{"query", "_query_dense"},
                                                                          {"key", "_key_dense"},
                                                                          {"value", "_value_dense"},
                                                                          {"attention_output", "_output_dense"}};
  const auto found = attributes.find(part);
  return found != attributes.end() ? found->second : part;
}

void AddLayersByPath(const NetworkImpl& model, const std::string& prefix, std::set<const LayerImpl*>* visited,
                     std::vector<ModelLayer>* layers) {
  std::map<std::string, int> used;
  for (const auto& layer : model.layers()) {
    const std::string base = SnakeCase(layer->class_name());
    const int number = used[base]++;
    const std::string path = absl::StrCat(prefix, "layers/", base, number == 0 ? "" : absl::StrCat("_", number));
    if (!visited->insert(layer.get()).second) continue;
    if (const auto* inner = dynamic_cast<const NetworkImpl*>(layer.get()); inner != nullptr) {
      AddLayersByPath(*inner, absl::StrCat(path, "/"), visited, layers);
      continue;
    }
    std::map<std::string, ModelLayer> parts;
    for (const bool trainable : {true, false}) {
      for (const auto& cell : layer->cells()) {
        if (cell->trainable != trainable) continue;
        const size_t slash = cell->name.rfind('/');
        const std::string key =
            slash == std::string::npos ? path : absl::StrCat(path, "/", AttributeOf(cell->name.substr(0, slash)));
        ModelLayer& part = parts[key];
        part.key = key;
        part.layer = layer.get();
        part.cells.push_back(cell);
      }
    }
    for (auto& [key, part] : parts) layers->push_back(std::move(part));
  }
}

}  // namespace

std::vector<ModelLayer> LayersInOrder(const NetworkImpl& model) {
  std::vector<ModelLayer> layers;
  for (const auto& layer : model.layers()) layers.push_back({layer->name(), layer.get(), layer->OrderedCells()});
  return layers;
}

std::vector<ModelLayer> LayersByPath(const NetworkImpl& model) {
  std::vector<ModelLayer> layers;
  std::set<const LayerImpl*> visited;
  AddLayersByPath(model, "", &visited, &layers);
  return layers;
}

absl::StatusOr<VariableNames> VariableNamesOf(const NetworkImpl& model) {
  TD_RETURN_IF_ERROR(model.status());
  GraphBuilder graph("variables");
  std::vector<Tensor> inputs;
  for (const KerasTensor& input : model.network().inputs()) {
    inputs.push_back(
        graph.Input(absl::StrCat("input_", inputs.size()), input.dtype(), input.shape(), model.location()));
  }
  TD_RETURN_IF_ERROR(model.network().Replay({.graph = &graph, .loc = model.location()}, inputs).status());
  VariableNames names;
  for (const VariableSpec& variable : graph.variables()) {
    if (variable.owner != nullptr) names[static_cast<const WeightCell*>(variable.owner.get())] = variable.name;
  }
  return names;
}

std::vector<ModelLayer> LayersByVariable(const NetworkImpl& model, const VariableNames& names) {
  std::vector<ModelLayer> layers;
  for (const auto& cell : model.cells()) {
    const auto name = names.find(cell.get());
    layers.push_back({name != names.end() ? name->second : cell->FullName(), cell->layer, {cell}});
  }
  return layers;
}

}  // namespace tandem::keras
