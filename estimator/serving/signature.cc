#include "estimator/serving/signature.h"

#include <cstdlib>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/crc32c.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/file_checksum.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "tandem-export-1";
constexpr int64_t kMaxSignature = 16 << 20;

absl::Status Damaged(const std::string& path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": ", what));
}

Json ToJson(const std::vector<TensorSignature>& tensors) {
  Json json = Json::array();
  for (const TensorSignature& t : tensors) {
    json.push_back({{"name", t.name}, {"dtype", std::string(Name(t.dtype))}, {"shape", t.shape}});
  }
  return json;
}

Json ToJson(const std::map<std::string, double>& numbers) {
  Json json = Json::object();
  for (const auto& [name, value] : numbers) json[name] = NumberToJson(value);
  return json;
}

// Returns the last lines: the checksum of the text before them.
std::string SealOf(absl::string_view text) {
  return absl::StrCat("  \"signature_crc32c\": \"", HexCrc32c(Crc32c(text)), "\"\n}\n");
}

// Each of these reads one value of the JSON; they return false if the JSON has another form.
bool Read(const Json& json, int64_t* value) {
  if (!json.is_number_integer()) return false;
  *value = json.get<int64_t>();
  return true;
}

bool Read(const Json& json, std::string* value) {
  if (!json.is_string()) return false;
  *value = json.get<std::string>();
  return true;
}

bool Read(const Json& json, std::map<std::string, double>* numbers) {
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    const std::optional<double> number = NumberFromJson(value);
    if (!number.has_value()) return false;
    (*numbers)[name] = *number;
  }
  return true;
}

bool Read(const Json& json, std::vector<TensorSignature>* tensors) {
  if (!json.is_array()) return false;
  for (const Json& item : json) {
    TensorSignature t;
    std::string dtype;
    if (!item.is_object() || !item.contains("name") || !Read(item["name"], &t.name) || !item.contains("dtype") ||
        !Read(item["dtype"], &dtype) || !item.contains("shape") || !item["shape"].is_array()) {
      return false;
    }
    t.dtype = DTypeFromName(dtype);
    for (const Json& size : item["shape"]) {
      t.shape.push_back(0);
      if (!Read(size, &t.shape.back())) return false;
      if (t.shape.back() < (t.shape.size() == 1 ? kBatch : 0)) return false;
    }
    if (t.dtype == DType::kInvalid || t.shape.empty() || t.shape[0] != kBatch) return false;
    tensors->push_back(std::move(t));
  }
  return true;
}

bool Read(const Json& json, std::map<std::string, Manifest::File>* files) {
  if (!json.is_object()) return false;
  for (const auto& [name, file] : json.items()) {
    Manifest::File& read = (*files)[name];
    std::string crc;
    if (!file.is_object() || !file.contains("size") || !Read(file["size"], &read.size) || !file.contains("crc32c") ||
        !Read(file["crc32c"], &crc)) {
      return false;
    }
    read.crc32c = static_cast<uint32_t>(std::strtoul(crc.c_str(), nullptr, 16));
  }
  // Names must not lead out of the directory: only these two files are allowed.
  return files->size() == 2 && files->count(kProgramName) == 1 && files->count(kWeightsName) == 1;
}

}  // namespace

absl::StatusOr<std::string> ModelSignature::Text() const {
  Json json;
  json["format"] = kFormat;
  json["global_step"] = global_step;
  json["target"] = target;
  json["rows_per_step"] = rows_per_step;
  json["inputs"] = ToJson(inputs);
  json["outputs"] = ToJson(outputs);
  json["seed"] = seed;
  json["scalars"] = ToJson(scalars);
  json["metrics"] = ToJson(metrics);
  Json& listed = json["files"] = Json::object();
  for (const auto& [name, file] : files) {
    listed[name] = {{"size", file.size}, {"crc32c", HexCrc32c(file.crc32c)}};
  }
  std::string text;
  try {
    text = json.dump(2);
  } catch (const nlohmann::json::exception&) {  // text that is not UTF-8 is reported by an exception
    return absl::InvalidArgumentError(
        "an exported model's names must be UTF-8 text, and a feature, a prediction or a metric has another");
  }
  text = absl::StrCat(absl::StripSuffix(text, "\n}"), ",\n");
  return absl::StrCat(text, SealOf(text));
}

absl::StatusOr<ModelSignature> ParseSignature(const std::string& text, const std::string& path) {
  const size_t seal = SealOf("").size();
  if (text.size() < seal || text.substr(text.size() - seal) != SealOf(text.substr(0, text.size() - seal))) {
    return Damaged(path, "its bytes have changed: they do not match its own checksum");
  }
  const Json json = ParseJson(text);
  // A comparison of `json` with a text would make it a Json where no exception may pass.
  std::string format;
  if (!json.is_object() || !json.contains("format") || !Read(json["format"], &format) || format != kFormat) {
    return Damaged(path, absl::StrCat("\"format\" is not \"", kFormat, "\": written by another version"));
  }
  ModelSignature signature;
  bool good = true;
  const auto read = [&](const char* key, auto* value) { good = good && json.contains(key) && Read(json[key], value); };
  read("global_step", &signature.global_step);
  read("target", &signature.target);
  read("rows_per_step", &signature.rows_per_step);
  read("inputs", &signature.inputs);
  read("outputs", &signature.outputs);
  read("seed", &signature.seed);
  read("scalars", &signature.scalars);
  read("metrics", &signature.metrics);
  read("files", &signature.files);
  if (!good || signature.rows_per_step < 1) return Damaged(path, "is not the signature of an exported model");
  return signature;
}

absl::StatusOr<ModelSignature> ReadSignature(Env* env, const std::string& dir) {
  const std::string path = JoinPath(dir, kSignatureName);
  auto file = OpenListedFile(env, path);
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(
        absl::StrCat(PrintableLine(dir), ": there is no exported model (no file ", kSignatureName,
                     "); name a folder that ExportModel or an exporter wrote, such as MODEL_DIR/export/NAME"));
  }
  TD_RETURN_IF_ERROR(file.status());
  TD_RETURN_IF_ERROR(CheckSize(path, (*file)->size(), kMaxSignature));
  std::string text((*file)->size(), '\0');
  TD_RETURN_IF_ERROR((*file)->ReadAt(0, text.size(), text.data()));
  return ParseSignature(text, path);
}

absl::StatusOr<ModelSignature> VerifyExport(Env* env, const std::string& dir) {
  TD_ASSIGN_OR_RETURN(ModelSignature signature, ReadSignature(env, dir));
  for (const auto& [name, file] : signature.files) {
    const std::string path = JoinPath(dir, name);
    const absl::Status status = VerifyFile(env, path, file, kSignatureName);
    if (absl::IsNotFound(status)) return Damaged(path, "is missing");
    TD_RETURN_IF_ERROR(status);
  }
  return signature;
}

}  // namespace tandem
