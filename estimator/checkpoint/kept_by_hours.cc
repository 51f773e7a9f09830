#include "estimator/checkpoint/kept_by_hours.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {

absl::StatusOr<KeptByHours::Content> KeptByHours::Read() const {
  const absl::StatusOr<std::string> text = ReadTextFile(env_, path_);
  if (absl::IsNotFound(text.status())) return Content();
  TD_RETURN_IF_ERROR(text.status());
  const nlohmann::json json = ParseJson(*text);
  bool good = json.is_object() && json.contains("since") && json["since"].is_number() && json.contains("steps") &&
              json["steps"].is_array();
  Content content;
  if (good) {
    content.since = json["since"].get<double>();
    for (const nlohmann::json& step : json["steps"]) {
      good = good && step.is_number_integer();
      if (good) content.steps.insert(step.get<int64_t>());
    }
  }
  if (good) return content;
  return absl::DataLossError(absl::StrCat(path_, ": not a list of kept checkpoints; delete it to keep none of them"));
}

absl::Status KeptByHours::Saved(int64_t step) {
  if (hours_ <= 0) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(Content content, Read());
  const double now = env_->NowSeconds();
  const bool first = content.since == 0;
  // A clock that was set back gives a time before `since`. Then the hours are counted from now, since otherwise nothing
  // would be kept until the clock has passed `since` again.
  if (!first && now >= content.since && now < content.since + 3600 * hours_) return absl::OkStatus();
  if (!first && now >= content.since) content.steps.insert(step);
  const nlohmann::ordered_json json = {{"since", now}, {"steps", content.steps}};
  return env_->WriteFileAtomically(
      path_,
      absl::StrCat(json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace), "\n"));
}

absl::StatusOr<std::set<int64_t>> KeptByHours::Steps() const {
  TD_ASSIGN_OR_RETURN(Content content, Read());
  return std::move(content.steps);
}

}  // namespace tandem
