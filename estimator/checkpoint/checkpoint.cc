#include "estimator/checkpoint/checkpoint.h"

#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/consistent_read.h"
#include "estimator/checkpoint/file_checksum.h"
#include "estimator/checkpoint/json_text.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

// Returns the text of state.json with sorted keys, one per line: equal states give equal bytes.
absl::StatusOr<std::string> StateText(const CheckpointData& data) {
  std::string text = "{\n  \"extra\": {";
  bool first = true;
  for (const auto& [key, value] : data.extra) {
    TD_ASSIGN_OR_RETURN(std::string key_text, JsonText(key));
    TD_ASSIGN_OR_RETURN(std::string value_text, JsonText(value));
    absl::StrAppend(&text, first ? "\n" : ",\n", "    ", key_text, ": ", value_text);
    first = false;
  }
  absl::StrAppend(&text, first ? "" : "\n  ", "},\n  \"global_step\": ", data.global_step, ",\n  \"seed\": ", data.seed,
                  "\n}\n");
  return text;
}

absl::StatusOr<CheckpointData> ReadOnce(Env* env, const std::string& dir) {
  TD_ASSIGN_OR_RETURN(Manifest manifest, VerifyManifest(env, dir));
  for (const char* name : {kVariablesName, kSlotsName, kStateName, kIteratorName}) {
    if (manifest.files.count(name) == 0) {
      return absl::DataLossError(absl::StrCat(JoinPath(dir, name), ": is missing, and the manifest does not list it"));
    }
  }
  CheckpointData data;
  TD_RETURN_IF_ERROR(ReadCheckpointState(env, dir, &data));
  if (data.global_step != manifest.global_step) {
    return absl::DataLossError(absl::StrCat(JoinPath(dir, kStateName), ": says step ", data.global_step,
                                            ", the manifest ", manifest.global_step));
  }
  TD_ASSIGN_OR_RETURN(data.variables, ReadSafetensors(env, JoinPath(dir, kVariablesName)));
  TD_ASSIGN_OR_RETURN(data.slots, ReadSafetensors(env, JoinPath(dir, kSlotsName)));
  if (manifest.files.contains(kAttachmentsName)) {
    TD_ASSIGN_OR_RETURN(data.attachments, ReadSafetensors(env, JoinPath(dir, kAttachmentsName)));
  }
  TD_ASSIGN_OR_RETURN(data.iterator_state,
                      env->ReadFile(JoinPath(dir, kIteratorName), manifest.files[kIteratorName].size));
  data.manifest = manifest.Text();
  return data;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<absl::string_view>>> CheckpointImage::Files() const {
  std::vector<std::pair<std::string, std::vector<absl::string_view>>> files = {{kVariablesName, variables.Pieces()},
                                                                               {kSlotsName, slots.Pieces()},
                                                                               {kStateName, {state}},
                                                                               {kIteratorName, {iterator_state}}};
  if (attachments.has_value()) files.push_back({kAttachmentsName, attachments->Pieces()});
  files.push_back({kManifestName, {manifest}});
  return files;
}

absl::StatusOr<CheckpointImage> SerializeCheckpoint(const CheckpointData& data) {
  if (data.global_step < 0) {
    return absl::InvalidArgumentError(absl::StrCat("global step ", data.global_step, " is negative"));
  }
  CheckpointImage image;
  TD_ASSIGN_OR_RETURN(image.variables, SerializeSafetensors(data.variables));
  TD_ASSIGN_OR_RETURN(image.slots, SerializeSafetensors(data.slots));
  if (!data.attachments.empty()) {
    TD_ASSIGN_OR_RETURN(image.attachments, SerializeSafetensors(data.attachments));
  }
  TD_ASSIGN_OR_RETURN(image.state, StateText(data));
  image.iterator_state = data.iterator_state;
  Manifest manifest{.global_step = data.global_step};
  for (const auto& [name, pieces] : image.Files()) {
    if (name == kManifestName) continue;
    manifest.files[name] = ChecksumOf(pieces);
  }
  image.manifest = manifest.Text();
  return image;
}

absl::Status ReadCheckpointState(Env* env, const std::string& dir, CheckpointData* data) {
  std::string path = JoinPath(dir, kStateName);
  TD_ASSIGN_OR_RETURN(std::string text, env->ReadFile(path));
  auto json = ParseJson(text);
  if (!json.is_object() || !json.contains("global_step") || !json["global_step"].is_number_unsigned() ||
      !json.contains("seed") || !json["seed"].is_number_unsigned() || !json.contains("extra") ||
      !json["extra"].is_object()) {
    return absl::DataLossError(absl::StrCat(path, ": is not a state with \"global_step\", \"seed\" and \"extra\""));
  }
  data->global_step = json["global_step"].get<int64_t>();
  data->seed = json["seed"].get<uint64_t>();
  if (data->global_step < 0) return absl::DataLossError(absl::StrCat(path, ": \"global_step\" is too large"));
  for (const auto& [key, value] : json["extra"].items()) {
    if (!value.is_string()) return absl::DataLossError(absl::StrCat(path, ": \"", key, "\" is not a string"));
    data->extra[key] = value.get<std::string>();
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckpointData> ReadCheckpoint(Env* env, const std::string& dir) {
  return ReadConsistently(
      env, kManifestName, [&]() -> absl::StatusOr<std::string> { return dir; },
      [env](const std::string& path) { return ReadOnce(env, path); });
}

}  // namespace tandem
