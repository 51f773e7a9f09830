#include "estimator/keras/files/match_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/logging.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/keras/files/model_weights.h"

namespace tandem::keras {
namespace {

using Cell = std::shared_ptr<WeightCell>;

// Returns "dense/kernel" for "dense/kernel:0" and, if `layer` is the model "tower", for "tower/dense/kernel".
std::string PlainName(absl::string_view name, const LayerImpl& layer) {
  absl::ConsumeSuffix(&name, ":0");
  if (dynamic_cast<const NetworkImpl*>(&layer) != nullptr) absl::ConsumePrefix(&name, absl::StrCat(layer.name(), "/"));
  return std::string(name);
}

class Matcher {
 public:
  Matcher(const NetworkImpl& model, VariableNames names, const LoadWeightsOptions& options)
      : model_(model), names_(std::move(names)), options_(options) {}

  void MatchByOrder(const std::vector<ModelLayer>& own, const std::vector<FileLayer>& file) {
    std::vector<const ModelLayer*> layers;
    std::vector<const FileLayer*> groups;
    for (const ModelLayer& layer : own) {
      if (!layer.cells.empty()) layers.push_back(&layer);
    }
    for (const FileLayer& group : file) {
      if (!group.weights.empty()) groups.push_back(&group);
    }
    if (layers.size() == groups.size()) {
      for (size_t i = 0; i < layers.size(); ++i) MatchLayer(*layers[i], *groups[i]);
      return;
    }
    MatchByName(own, file);
  }

  void MatchByName(const std::vector<ModelLayer>& own, const std::vector<FileLayer>& file) {
    std::map<std::string, const FileLayer*> groups;
    for (const FileLayer& group : file) groups.insert({group.name, &group});
    std::set<std::string> known;
    for (const ModelLayer& layer : own) {
      if (layer.cells.empty()) continue;
      known.insert(layer.key);
      const auto found = groups.find(layer.key);
      if (found != groups.end() && !found->second->weights.empty()) {
        MatchLayer(layer, *found->second);
      } else {
        for (const Cell& cell : layer.cells) AddMissing(*cell);
      }
    }
    for (const FileLayer& group : file) {
      if (known.contains(group.name)) continue;
      for (const FileWeight& weight : group.weights) AddSuperfluous(weight);
    }
  }

  // Reads the matched weights and, if there is no error, assigns them.
  absl::StatusOr<LoadReport> Finish(const std::string& path) {
    std::vector<std::pair<Cell, HostTensor>> values;
    std::vector<std::string> unreadable, not_finite;
    for (const auto& [cell, weight] : pairs_) {
      absl::StatusOr<HostTensor> value = weight->read(cell->dtype);
      if (!value.ok()) {
        unreadable.push_back(absl::StrCat(Describe(*cell), " cannot be read: ", value.status().message()));
        continue;
      }
      if (const int64_t count = CountNotFinite(*value); count > 0) {
        not_finite.push_back(absl::StrCat(weight->where, ": ", count, " of ", value->num_elements()));
      }
      values.emplace_back(cell, *std::move(value));
    }
    std::vector<std::string> problems = unreadable;
    if (!options_.skip_mismatch) Append(report_.mismatched, &problems);
    if (!options_.by_name) {
      Append(report_.missing, &problems);
      Append(report_.superfluous, &problems);
    }
    if (!problems.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, " does not fit the model ", model_.ToString(), ", and nothing is loaded: ", report_.missing.size(),
          " weights are missing, ", report_.superfluous.size(), " superfluous, ", report_.mismatched.size(),
          " of another shape, ", unreadable.size(), " not readable:\n  ", absl::StrJoin(problems, "\n  "), remedy_));
    }
    if (!report_.mismatched.empty()) {
      TD_LOG(WARNING) << path << ": these weights of another shape are passed over:\n  "
                      << absl::StrJoin(report_.mismatched, "\n  ");
    }
    if (!not_finite.empty()) {
      TD_LOG(WARNING) << "Weights of the file have values that are not finite:\n  "
                      << absl::StrJoin(not_finite, "\n  ");
    }
    for (auto& [cell, value] : values) TD_RETURN_IF_ERROR(cell->Assign(value));
    report_.loaded = static_cast<int64_t>(values.size());
    return std::move(report_);
  }

  void set_remedy(std::string remedy) { remedy_ = std::move(remedy); }

 private:
  static void Append(const std::vector<std::string>& lines, std::vector<std::string>* to) {
    to->insert(to->end(), lines.begin(), lines.end());
  }

  static int64_t CountNotFinite(const HostTensor& value) {
    if (value.dtype() != DType::kFloat32) return 0;
    const float* begin = value.data<float>();
    return std::count_if(begin, begin + value.num_elements(), [](float x) { return !std::isfinite(x); });
  }

  // Returns, for example, `Dense "encoder" (model.cc:12): "tower/encoder/kernel", float32 [6,5],`.
  std::string Describe(const WeightCell& cell) const {
    const auto name = names_.find(&cell);
    return absl::StrCat(cell.layer->ToString(), ": \"", name != names_.end() ? name->second : cell.FullName(), "\", ",
                        Name(cell.dtype), " ", ShapeString(cell.shape), ",");
  }

  void AddMissing(const WeightCell& cell) {
    report_.missing.push_back(absl::StrCat(Describe(cell), " is not in the file"));
  }
  void AddSuperfluous(const FileWeight& weight) {
    report_.superfluous.push_back(
        absl::StrCat(weight.where, ", ", ShapeString(weight.shape), ", is no weight of the model"));
  }

  void MatchWeight(const Cell& cell, const FileWeight& weight) {
    if (cell->shape == weight.shape) {
      pairs_.emplace_back(cell, &weight);
    } else {
      report_.mismatched.push_back(
          absl::StrCat(Describe(*cell), " is ", ShapeString(weight.shape), " in ", weight.where));
    }
  }

  // Returns the file's weight for each weight of the layer, matched by full names. So it does not matter that the order
  // in the file depends on which layers of a nested model were frozen when it was saved. Returns an empty list if the
  // names are not the same.
  static std::vector<const FileWeight*> ByWholeNames(const ModelLayer& layer, const FileLayer& group) {
    std::map<std::string, const FileWeight*> by_name;
    for (const FileWeight& weight : group.weights) by_name[PlainName(weight.name, *layer.layer)] = &weight;
    std::vector<const FileWeight*> found;
    std::set<std::string> names;
    for (const Cell& cell : layer.cells) {
      const std::string name = cell->FullName();
      const auto it = by_name.find(name);
      if (it == by_name.end() || !names.insert(name).second) return {};
      found.push_back(it->second);
    }
    return found.size() == group.weights.size() ? found : std::vector<const FileWeight*>();
  }

  void MatchLayer(const ModelLayer& layer, const FileLayer& group) {
    const std::vector<const FileWeight*> by_name = ByWholeNames(layer, group);
    if (!by_name.empty()) {
      for (size_t i = 0; i < by_name.size(); ++i) MatchWeight(layer.cells[i], *by_name[i]);
      return;
    }
    if (layer.cells.size() == group.weights.size()) {
      for (size_t i = 0; i < layer.cells.size(); ++i) MatchWeight(layer.cells[i], group.weights[i]);
      return;
    }
    // The numbers of weights differ: match by the last part of the names to find which weights are missing or
    // superfluous.
    std::vector<const FileWeight*> rest;
    for (const FileWeight& weight : group.weights) rest.push_back(&weight);
    for (const Cell& cell : layer.cells) {
      const auto it = std::find_if(rest.begin(), rest.end(), [&](const FileWeight* weight) {
        absl::string_view name = weight->name;
        absl::ConsumeSuffix(&name, ":0");
        return name == cell->name || absl::EndsWith(name, absl::StrCat("/", cell->name));
      });
      if (it != rest.end()) {
        MatchWeight(cell, **it);
        rest.erase(it);
      } else {
        (options_.by_name ? report_.mismatched : report_.missing)
            .push_back(
                absl::StrCat(Describe(*cell), " is not in the file's layer \"", PrintableLine(group.name), "\""));
      }
    }
    for (const FileWeight* weight : rest) AddSuperfluous(*weight);
  }

  const NetworkImpl& model_;
  const VariableNames names_;
  const LoadWeightsOptions options_;
  std::vector<std::pair<Cell, const FileWeight*>> pairs_;
  LoadReport report_;
  std::string remedy_;
};

constexpr char kByNameRemedy[] = "\nWith .by_name layers are matched by their names, and the others passed over";

bool HasLayerNames(const WeightFile& file) {
  return std::any_of(file.layers.begin(), file.layers.end(), [](const FileLayer& l) { return !l.layer_name.empty(); });
}

// Replaces the layers' paths in the file by their names. Parts of layers, which have no name of their own, keep their
// paths.
std::vector<ModelLayer> ByLayerName(std::vector<ModelLayer> layers) {
  for (ModelLayer& layer : layers) {
    if (layer.cells.size() == layer.layer->cells().size()) layer.key = layer.layer->name();
  }
  return layers;
}
std::vector<FileLayer> ByLayerName(std::vector<FileLayer> layers) {
  for (FileLayer& layer : layers) {
    if (!layer.layer_name.empty()) layer.name = layer.layer_name;
  }
  return layers;
}

}  // namespace

absl::StatusOr<LoadReport> AssignFromFile(const NetworkImpl& model, const std::string& path, const WeightFile& file,
                                          const LoadWeightsOptions& options) {
  TD_ASSIGN_OR_RETURN(const VariableNames names, VariableNamesOf(model));
  // Outlives the matcher, which has pointers into this list.
  std::vector<FileLayer> by_layer_name;
  Matcher matcher(model, names, options);
  switch (file.layout) {
    case WeightLayout::kByLayer:
      if (options.by_name) {
        matcher.MatchByName(LayersInOrder(model), file.layers);
      } else {
        matcher.set_remedy(kByNameRemedy);
        matcher.MatchByOrder(LayersInOrder(model), file.layers);
      }
      break;
    case WeightLayout::kByPath:
      if (options.by_name && HasLayerNames(file)) {
        matcher.MatchByName(ByLayerName(LayersByPath(model)), by_layer_name = ByLayerName(file.layers));
      } else {
        if (HasLayerNames(file)) matcher.set_remedy(kByNameRemedy);
        matcher.MatchByName(LayersByPath(model), file.layers);
      }
      break;
    case WeightLayout::kByVariable:
      matcher.MatchByName(LayersByVariable(model, names), file.layers);
      break;
  }
  return matcher.Finish(path);
}

}  // namespace tandem::keras
