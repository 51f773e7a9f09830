#include "estimator/keras/files/weight_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/env.h"
#include "base/json_parse.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/hdf5_attributes.h"
#include "data/files/hdf5_reader.h"
#include "data/files/zip_reader.h"
#include "estimator/checkpoint/safetensors.h"

namespace tandem::keras {
namespace {

constexpr char kLayerNames[] = "layer_names";
constexpr char kModelWeights[] = "model_weights";
constexpr char kOptimizerWeights[] = "optimizer_weights";
constexpr char kLayers[] = "layers";
// The name of the group "layers" in files of Keras 2.12 and 2.13.
constexpr char kOldLayers[] = "_layer_checkpoint_dependencies";

bool HasList(const Hdf5Object& object, absl::string_view name) {
  return object.attributes.contains(name) || object.attributes.contains(absl::StrCat(name, 0));
}

absl::StatusOr<HostTensor> ReadAs(const Hdf5Dataset& data, DType dtype) {
  if (dtype == DType::kFloat32) return data.ReadFloat32();
  TD_ASSIGN_OR_RETURN(HostTensor values, data.Read());
  if (values.dtype() == dtype) return values;
  return absl::InvalidArgumentError(
      absl::StrCat(data.where, ": the numbers are ", Name(values.dtype()), ", and the weight is ", Name(dtype)));
}

FileWeight WeightOf(std::string name, const Hdf5Dataset& data) {
  return {std::move(name), data.where, data.shape, [data](DType dtype) { return ReadAs(data, dtype); }};
}

// Converts floating-point numbers to float32, if that is `dtype`.
absl::StatusOr<HostTensor> ConvertTo(DType dtype, HostTensor values, const std::string& where) {
  if (values.dtype() == dtype) return values;
  HostTensor converted(DType::kFloat32, values.shape());
  const int64_t count = values.num_elements();
  float* to = converted.data<float>();
  if (dtype == DType::kFloat32 && values.dtype() == DType::kFloat64) {
    std::transform(values.data<double>(), values.data<double>() + count, to,
                   [](double value) { return static_cast<float>(value); });
    return converted;
  }
  if (dtype == DType::kFloat32 && values.dtype() == DType::kBFloat16) {
    const auto* from = static_cast<const uint16_t*>(values.raw());
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
      std::memcpy(to + i, &bits, sizeof(bits));
    }
    return converted;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": the numbers are ", Name(values.dtype()), ", and the weight is ", Name(dtype)));
}

absl::StatusOr<WeightFile> ReadSafetensorsWeights(const std::string& path) {
  TD_ASSIGN_OR_RETURN(std::shared_ptr<SafetensorsReader> reader, SafetensorsReader::Open(Env::Default(), path));
  WeightFile file;
  file.layout = WeightLayout::kByVariable;
  for (const SafetensorsEntry& entry : reader->entries()) {
    const std::string where = absl::StrCat(path, ": ", PrintableLine(entry.name));
    const auto read = [reader, name = entry.name, where](DType dtype) -> absl::StatusOr<HostTensor> {
      TD_ASSIGN_OR_RETURN(HostTensor values, reader->Read(name));
      return ConvertTo(dtype, std::move(values), where);
    };
    file.layers.push_back({entry.name, {{entry.name, where, entry.shape, read}}});
  }
  return file;
}

// Parses an attribute whose text is JSON; does not set `json` if the text is "null".
absl::Status ReadJson(const std::string& text, const std::string& where, std::optional<nlohmann::ordered_json>* json) {
  if (!JsonIsTooDeep(text)) {
    nlohmann::ordered_json parsed = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_discarded()) {
      if (!parsed.is_null()) *json = std::move(parsed);
      return absl::OkStatus();
    }
  }
  return absl::DataLossError(absl::StrCat(where, " is no JSON; the file is damaged"));
}

absl::Status ReadJsonAttribute(const Hdf5Group& root, const char* name, std::optional<nlohmann::ordered_json>* json) {
  if (!root.attributes.contains(name)) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const std::string text, GetString(root, name));
  return ReadJson(text, absl::StrCat(root.where, ": the attribute \"", name, "\""), json);
}

// Refuses files of Keras 1 and of other backends, whose convolution kernels are stored differently.
absl::Status CheckOrigin(const Hdf5Group& group) {
  const auto text = [&](const char* name) {
    absl::StatusOr<std::string> value = GetString(group, name);
    return value.ok() ? *value : "";
  };
  const std::string backend = text("backend"), version = text("keras_version");
  if (backend != "theano" && backend != "cntk" && !absl::StartsWith(version, "0.") &&
      !absl::StartsWith(version, "1.")) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat(group.where, ": the weights are of Keras ", PrintableLine(version), " with ", PrintableLine(backend),
                   ", whose kernels lie differently; load them with Keras 2 on TensorFlow, and save them again"));
}

void AddVariableGroups(const Hdf5Group& group, const std::string& path, std::vector<FileLayer>* layers,
                       absl::Status* status) {
  for (const auto& [name, child] : group.groups) {
    if (name == "seed_generator") continue;
    if (name != "vars") {
      const std::string& known = name == kOldLayers ? kLayers : name;
      AddVariableGroups(*child, path.empty() ? known : absl::StrCat(path, "/", known), layers, status);
      continue;
    }
    FileLayer layer{path, {}};
    if (absl::StatusOr<std::string> own = GetString(*child, "name"); own.ok()) layer.layer_name = *std::move(own);
    for (size_t i = 0; i < child->datasets.size(); ++i) {
      const Hdf5Dataset* data = child->FindDataset(absl::StrCat(i));
      if (data != nullptr) {
        layer.weights.push_back(WeightOf(absl::StrCat(i), *data));
      } else if (status->ok()) {
        *status = absl::DataLossError(absl::StrCat(child->where, ": it has ", child->datasets.size(),
                                                   " variables, and none of them is called \"", i, "\""));
      }
    }
    if (!layer.weights.empty()) layers->push_back(std::move(layer));
  }
}

absl::StatusOr<WeightFile> ReadTree(const Hdf5Group& root) {
  WeightFile file;
  TD_RETURN_IF_ERROR(ReadJsonAttribute(root, "model_config", &file.model_config));
  TD_RETURN_IF_ERROR(ReadJsonAttribute(root, "training_config", &file.training_config));
  const Hdf5Group* weights = root.FindGroup(kModelWeights);
  if (weights != nullptr && HasList(*weights, kLayerNames)) {
    TD_RETURN_IF_ERROR(CheckOrigin(root));
  } else {
    weights = &root;
  }
  if (HasList(*weights, kLayerNames)) {
    TD_RETURN_IF_ERROR(CheckOrigin(*weights));
    TD_ASSIGN_OR_RETURN(file.layers, ReadLayerGroups(*weights));
    if (const Hdf5Group* optimizer = root.FindGroup(kOptimizerWeights); optimizer != nullptr) {
      TD_ASSIGN_OR_RETURN(file.optimizer, ReadNamedWeights(*optimizer));
    }
    return file;
  }
  file.layout = WeightLayout::kByPath;
  TD_ASSIGN_OR_RETURN(file.layers, ReadVariableGroups(root));
  if (file.layers.empty() && root.FindGroup(kLayers) == nullptr && root.FindGroup(kOldLayers) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        root.where, ": the file has no weights of Keras: neither a list \"layer_names\" nor groups \"vars\""));
  }
  if (const Hdf5Group* optimizer = root.FindGroup("optimizer"); optimizer != nullptr) {
    std::vector<FileLayer> groups;
    absl::Status status;
    AddVariableGroups(*optimizer, "", &groups, &status);
    TD_RETURN_IF_ERROR(status);
    for (FileLayer& group : groups) {
      if (group.name.empty()) file.optimizer = std::move(group.weights);
    }
  }
  return file;
}

absl::StatusOr<WeightFile> ReadKerasArchive(const std::string& path) {
  constexpr char kConfig[] = "config.json", kWeights[] = "model.weights.h5";
  std::map<std::string, std::string> entries;
  TD_ASSIGN_OR_RETURN(entries, ReadZipEntries(path, "a .keras file", {kConfig, kWeights}));
  const std::string name = absl::StrCat(path, ", ", kWeights);
  TD_ASSIGN_OR_RETURN(const Hdf5Group root, ParseHdf5(std::move(entries[kWeights]), name));
  TD_ASSIGN_OR_RETURN(WeightFile file, ReadTree(root));
  TD_RETURN_IF_ERROR(ReadJson(entries[kConfig], absl::StrCat(path, ", ", kConfig), &file.model_config));
  if (file.model_config.has_value() && file.model_config->is_object()) {
    const auto compiled = file.model_config->find("compile_config");
    if (compiled != file.model_config->end() && compiled->is_object() && !compiled->empty()) {
      file.training_config = *compiled;
    }
  }
  return file;
}

}  // namespace

absl::StatusOr<std::vector<FileWeight>> ReadNamedWeights(const Hdf5Group& group) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, GetStringList(group, "weight_names"));
  std::vector<FileWeight> weights;
  for (const std::string& name : names) {
    TD_ASSIGN_OR_RETURN(const Hdf5Dataset* data, group.Dataset(name));
    weights.push_back(WeightOf(name, *data));
  }
  return weights;
}

absl::StatusOr<std::vector<FileLayer>> ReadLayerGroups(const Hdf5Group& root) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, GetStringList(root, kLayerNames));
  std::vector<FileLayer> layers;
  for (const std::string& name : names) {
    TD_ASSIGN_OR_RETURN(const Hdf5Group* group, root.Group(name));
    TD_ASSIGN_OR_RETURN(std::vector<FileWeight> weights, ReadNamedWeights(*group));
    layers.push_back({name, std::move(weights)});
  }
  // Reads the weights that belong to the model itself and to no layer; only newer files have them.
  if (const Hdf5Group* own = root.FindGroup("top_level_model_weights"); own != nullptr) {
    TD_ASSIGN_OR_RETURN(std::vector<FileWeight> weights, ReadNamedWeights(*own));
    if (!weights.empty()) layers.push_back({"top_level_model_weights", std::move(weights)});
  }
  return layers;
}

absl::StatusOr<std::vector<FileLayer>> ReadVariableGroups(const Hdf5Group& root) {
  std::vector<FileLayer> layers;
  absl::Status status;
  bool found = false;
  for (const char* name : {kLayers, kOldLayers}) {
    if (const Hdf5Group* group = root.FindGroup(name); group != nullptr) {
      found = true;
      AddVariableGroups(*group, kLayers, &layers, &status);
    }
  }
  for (const auto& [name, group] : root.groups) {
    if (!found && name != "optimizer") AddVariableGroups(*group, name, &layers, &status);
  }
  TD_RETURN_IF_ERROR(status);
  return layers;
}

absl::StatusOr<WeightFile> ReadWeightFile(const std::string& path) {
  if (absl::EndsWith(path, ".weights.json")) {
    return absl::UnimplementedError(absl::StrCat(
        path, ": weights in several files are not read; save them in one, in Keras with max_shard_size=None"));
  }
  if (absl::EndsWith(path, ".safetensors")) return ReadSafetensorsWeights(path);
  if (absl::EndsWith(path, ".keras")) {
    // A file whose name ends in .keras may be HDF5, as Keras 2 writes it.
    constexpr absl::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> bytes, Env::Default()->OpenForRead(path));
    std::string begin(std::min<int64_t>(bytes->size(), kSignature.size()), '\0');
    TD_RETURN_IF_ERROR(bytes->ReadAt(0, begin.size(), begin.data()));
    if (begin != kSignature) return ReadKerasArchive(path);
  }
  TD_ASSIGN_OR_RETURN(const Hdf5Group root, ReadHdf5(Env::Default(), path));
  return ReadTree(root);
}

}  // namespace tandem::keras
