#include "estimator/done_marker.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

std::string MarkerPath(const std::string& model_dir) { return JoinPath(model_dir, "DONE"); }

}  // namespace

absl::Status WriteDoneMarker(Env* env, const std::string& model_dir, const DoneMarker& marker) {
  const nlohmann::ordered_json json = {{"final_step", marker.final_step}, {"reason", marker.reason}};
  return env->WriteFileAtomically(
      MarkerPath(model_dir),
      absl::StrCat(json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace), "\n"));
}

absl::StatusOr<std::optional<DoneMarker>> ReadDoneMarker(Env* env, const std::string& model_dir) {
  const std::string path = MarkerPath(model_dir);
  absl::StatusOr<std::string> text = env->ReadFile(path);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  TD_RETURN_IF_ERROR(text.status());
  const nlohmann::json json = ParseJson(*text);
  if (!json.is_object() || !json.contains("final_step") || !json["final_step"].is_number_integer() ||
      !json.contains("reason") || !json["reason"].is_string()) {
    return absl::DataLossError(absl::StrCat(path, ": not a marker that training wrote; delete it"));
  }
  return DoneMarker{json["final_step"].get<int64_t>(), json["reason"].get<std::string>()};
}

absl::Status RemoveDoneMarker(Env* env, const std::string& model_dir) {
  absl::Status status = env->DeleteFile(MarkerPath(model_dir));
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace tandem
