#include "runtime/cuda/libraries/plan_choices.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "nlohmann/json.hpp"
#include "runtime/library_calls/library_call.h"

namespace tandem {

absl::StatusOr<PlanChoices> PlanChoices::FromJson(absl::string_view text) {
  const auto json = ParseJson(text);
  if (!json.is_object() || json.value("version", nlohmann::json()) != 1 || !json.contains("choices") ||
      !json["choices"].is_object()) {
    return absl::DataLossError("this is no table of measured plans (a JSON object with \"version\": 1)");
  }
  PlanChoices choices;
  for (const auto& [key, value] : json["choices"].items()) {
    if (!value.is_string()) {
      return absl::DataLossError(absl::StrCat("the table of measured plans has no name for \"", key, "\""));
    }
    choices.choices_[key] = value.get<std::string>();
  }
  return choices;
}

absl::StatusOr<PlanChoices> PlanChoices::Load(Env* env, const std::string& path) {
  if (!env->Exists(path)) return PlanChoices();
  TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(env, path));
  absl::StatusOr<PlanChoices> choices = FromJson(text);
  if (!choices.ok()) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", choices.status().message(), "; delete it, and the plans are measured again"));
  }
  return choices;
}

std::string PlanChoices::ToJson() const {
  // The library would turn a null value into an object by itself, but it aborts if it gets no memory for that.
  auto json = nlohmann::json::object();
  json["version"] = 1;
  json["choices"] = choices_;
  // Names come from libraries: invalid text in them must not throw.
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

absl::Status PlanChoices::Save(Env* env, const std::string& path) const {
  return env->WriteFileAtomically(path, ToJson());
}

const std::string* PlanChoices::Find(const std::string& key) const {
  auto found = choices_.find(key);
  return found == choices_.end() ? nullptr : &found->second;
}

void PlanChoices::Record(const std::string& key, const std::string& candidate) {
  choices_[key] = candidate;
  changed_ = true;
}

absl::StatusOr<std::unique_ptr<PlanFile>> PlanFile::Open(Env* env, const std::string& given) {
  const char* variable = std::getenv("TANDEM_GPU_PLANS");
  const std::string path = !given.empty() || variable == nullptr ? given : variable;
  if (path.empty()) return nullptr;
  TD_ASSIGN_OR_RETURN(PlanChoices choices, PlanChoices::Load(env, path));
  return std::unique_ptr<PlanFile>(new PlanFile(env, path, std::move(choices)));
}

absl::Status PlanFile::Save() const { return choices_.changed() ? choices_.Save(env_, path_) : absl::OkStatus(); }

std::string PlanChoiceKey(const format::LibraryCall& call, absl::string_view device_name,
                          absl::string_view library_version) {
  return absl::StrCat(TextOf(call), call.tf32 ? " tf32" : "", " | ", device_name, " | ", library_version);
}

}  // namespace tandem
