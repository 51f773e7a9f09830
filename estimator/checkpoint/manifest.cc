#include "estimator/checkpoint/manifest.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/crc32c.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/file_checksum.h"
#include "estimator/checkpoint/pointer_file.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

constexpr char kFormat[] = "tandem-checkpoint-1";
constexpr int64_t kMaxManifest = 1 << 20;

absl::Status Damaged(const std::string& path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<Manifest> ReadAndVerify(Env* env, const std::string& dir) {
  std::string path = JoinPath(dir, kManifestName);
  TD_ASSIGN_OR_RETURN(std::vector<std::string> names, env->ListDir(dir));
  if (std::find(names.begin(), names.end(), kManifestName) == names.end()) {
    return Damaged(path,
                   absl::StrCat("is missing: ", dir, " is no checkpoint, or one that was never finished; name the ",
                                "folder of one, such as MODEL_DIR/model.ckpt-1000"));
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, OpenListedFile(env, path));
  TD_RETURN_IF_ERROR(CheckSize(path, file->size(), kMaxManifest));
  std::string text(file->size(), '\0');
  TD_RETURN_IF_ERROR(file->ReadAt(0, text.size(), text.data()));
  TD_ASSIGN_OR_RETURN(Manifest manifest, ParseManifest(text, path));
  for (const std::string& name : names) {
    if (name != kManifestName && manifest.files.count(name) == 0) {
      return Damaged(JoinPath(dir, name), "does not belong to this checkpoint: the manifest does not list it");
    }
  }
  for (const auto& [name, expected] : manifest.files) {
    std::string file = JoinPath(dir, name);
    if (!std::binary_search(names.begin(), names.end(), name)) return Damaged(file, "is missing");
    TD_RETURN_IF_ERROR(VerifyFile(env, file, expected, "the manifest"));
  }
  return manifest;
}

}  // namespace

std::string Manifest::Text() const {
  std::string text =
      absl::StrCat("{\n  \"format\": \"", kFormat, "\",\n  \"global_step\": ", global_step, ",\n  \"files\": {");
  bool first = true;
  for (const auto& [name, file] : files) {
    absl::StrAppend(&text, first ? "\n" : ",\n", "    \"", name, "\": {\"size\": ", file.size, ", \"crc32c\": \"",
                    HexCrc32c(file.crc32c), "\"}");
    first = false;
  }
  absl::StrAppend(&text, "\n  },\n");
  return absl::StrCat(text, "  \"manifest_crc32c\": \"", HexCrc32c(Crc32c(text)), "\"\n}\n");
}

absl::StatusOr<Manifest> ParseManifest(const std::string& text, const std::string& path) {
  nlohmann::json json = ParseJson(text);
  if (!json.is_object()) return Damaged(path, "is not a JSON object");
  if (!json.contains("format") || json["format"] != kFormat) {
    return Damaged(path, absl::StrCat("\"format\" is not \"", kFormat, "\": damaged, or written by another version"));
  }
  Manifest manifest;
  if (!json.contains("global_step") || !json["global_step"].is_number_unsigned() || !json.contains("files") ||
      !json["files"].is_object()) {
    return Damaged(path, "\"global_step\" or \"files\" is missing or malformed");
  }
  manifest.global_step = json["global_step"].get<int64_t>();
  for (const auto& [name, file] : json["files"].items()) {
    if (!file.is_object() || !file.contains("size") || !file["size"].is_number_unsigned() || !file.contains("crc32c") ||
        !file["crc32c"].is_string()) {
      return Damaged(path, absl::StrCat("the entry of \"", name, "\" is malformed"));
    }
    // A checksum that is not eight hexadecimal digits fails the comparison below. A name must not lead out of the
    // directory.
    auto crc = static_cast<uint32_t>(std::strtoul(file["crc32c"].get_ref<const std::string&>().c_str(), nullptr, 16));
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos) {
      return Damaged(path, absl::StrCat("\"", name, "\" is not the name of a file"));
    }
    manifest.files[name] = {.size = file["size"].get<int64_t>(), .crc32c = crc};
  }
  if (manifest.Text() != text) return Damaged(path, "its bytes have changed: they do not match its own checksum");
  return manifest;
}

namespace {

// Returns "; there are model.ckpt-10, model.ckpt-20" for the checkpoints in the parent of `dir`; "" if there are none.
std::string CheckpointsBeside(Env* env, const std::string& dir) {
  constexpr size_t kShown = 8;
  const size_t slash = dir.rfind('/');
  if (slash == std::string::npos) return "";
  const absl::StatusOr<std::vector<std::string>> names = env->ListDir(dir.substr(0, slash));
  if (!names.ok()) return "";
  std::map<int64_t, std::string> by_step;
  for (const std::string& name : *names) {
    if (const std::optional<int64_t> step = CheckpointStep(name); step.has_value()) by_step[*step] = name;
  }
  if (by_step.empty()) return "";
  std::vector<std::string> newest;
  for (auto it = by_step.rbegin(); it != by_step.rend() && newest.size() < kShown; ++it) {
    newest.insert(newest.begin(), it->second);
  }
  return absl::StrCat("; there ", by_step.size() == 1 ? "is " : "are ", newest.size() < by_step.size() ? "..., " : "",
                      absl::StrJoin(newest, ", "));
}

}  // namespace

absl::StatusOr<Manifest> VerifyManifest(Env* env, const std::string& dir) {
  auto manifest = ReadAndVerify(env, dir);
  bool not_found = absl::IsNotFound(manifest.status());
  if (!not_found && !absl::IsDataLoss(manifest.status())) return manifest;
  // The directory does not exist, or it was deleted while it was read, which looks like missing files.
  if (absl::IsNotFound(env->Stat(dir).status())) {
    return absl::NotFoundError(absl::StrCat(dir.empty() ? "an empty path" : dir, ": there is no such checkpoint",
                                            CheckpointsBeside(env, dir)));
  }
  return not_found ? absl::DataLossError(manifest.status().message()) : manifest.status();
}

}  // namespace tandem
