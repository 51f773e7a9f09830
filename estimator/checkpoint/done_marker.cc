#include "estimator/checkpoint/done_marker.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {
namespace {

constexpr char kDone[] = "DONE", kUnfinished[] = "UNFINISHED";

absl::Status Damaged(const std::string& model_dir, const char* name) {
  return absl::DataLossError(absl::StrCat(JoinPath(model_dir, name), ": not a marker that training wrote; delete it"));
}

absl::Status Write(Env* env, const std::string& model_dir, const char* name, const nlohmann::ordered_json& json) {
  return env->WriteFileAtomically(
      JoinPath(model_dir, name),
      absl::StrCat(json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace), "\n"));
}

// Returns the file's JSON object, in which `step_key` must be an integer; nothing if the file does not exist.
absl::StatusOr<std::optional<nlohmann::json>> Read(Env* env, const std::string& model_dir, const char* name,
                                                   const char* step_key) {
  absl::StatusOr<std::string> text = ReadTextFile(env, JoinPath(model_dir, name));
  if (absl::IsNotFound(text.status())) return std::nullopt;
  TD_RETURN_IF_ERROR(text.status());
  nlohmann::json json = ParseJson(*text);
  const bool good = json.is_object() && json.contains(step_key) && json[step_key].is_number_integer();
  return good ? absl::StatusOr<std::optional<nlohmann::json>>(std::move(json)) : Damaged(model_dir, name);
}

absl::Status Remove(Env* env, const std::string& model_dir, const char* name) {
  absl::Status status = env->DeleteFile(JoinPath(model_dir, name));
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace

absl::Status WriteDoneMarker(Env* env, const std::string& model_dir, const DoneMarker& marker) {
  return Write(env, model_dir, kDone, {{"final_step", marker.final_step}, {"reason", marker.reason}});
}

absl::StatusOr<std::optional<DoneMarker>> ReadDoneMarker(Env* env, const std::string& model_dir) {
  TD_ASSIGN_OR_RETURN(const std::optional<nlohmann::json> json, Read(env, model_dir, kDone, "final_step"));
  if (!json.has_value()) return std::nullopt;
  if (!json->contains("reason") || !(*json)["reason"].is_string()) return Damaged(model_dir, kDone);
  return DoneMarker{(*json)["final_step"].get<int64_t>(), (*json)["reason"].get<std::string>()};
}

absl::Status RemoveDoneMarker(Env* env, const std::string& model_dir) { return Remove(env, model_dir, kDone); }

absl::Status WriteUnfinishedMarker(Env* env, const std::string& model_dir, int64_t first_step) {
  return Write(env, model_dir, kUnfinished, {{"first_step", first_step}});
}

absl::StatusOr<std::optional<int64_t>> ReadUnfinishedMarker(Env* env, const std::string& model_dir) {
  TD_ASSIGN_OR_RETURN(const std::optional<nlohmann::json> json, Read(env, model_dir, kUnfinished, "first_step"));
  if (!json.has_value()) return std::nullopt;
  return (*json)["first_step"].get<int64_t>();
}

absl::Status RemoveUnfinishedMarker(Env* env, const std::string& model_dir) {
  return Remove(env, model_dir, kUnfinished);
}

}  // namespace tandem
