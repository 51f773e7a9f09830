#include "estimator/curves/runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "estimator/curves/event_file.h"

namespace tandem {
namespace {

constexpr size_t kMaxNamed = 12;  // the most files that an error lists

// For each tag the values by step. A later value of the same step, from a repeated evaluation, replaces the earlier
// one.
using Points = std::map<std::string, std::map<int64_t, double>>;

bool IsEventFile(absl::string_view name) { return absl::StrContains(name, "tfevents"); }

bool IsFolder(Env* env, const std::string& path) {
  const absl::StatusOr<FileInfo> info = env->Stat(path);
  return info.ok() && info->is_directory;
}

// Returns the sorted names of a folder's contents. A folder that cannot be listed counts as empty, because CheckFolder
// has already checked the folders that the user named.
absl::StatusOr<std::vector<std::string>> NamesIn(Env* env, const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> names = env->ListDir(folder);
  if (names.ok() || absl::IsResourceExhausted(names.status())) return names;
  return std::vector<std::string>();
}

// Returns the sorted names of the folders in `folder` that are not hidden.
absl::StatusOr<std::vector<std::string>> FoldersIn(Env* env, const std::string& folder) {
  TD_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(env, folder));
  std::vector<std::string> folders;
  for (std::string& name : names) {
    if (!absl::StartsWith(name, ".") && IsFolder(env, JoinPath(folder, name))) folders.push_back(std::move(name));
  }
  return folders;
}

constexpr char kResults[] = "metrics.jsonl";

absl::StatusOr<bool> HasEventFile(Env* env, const std::string& folder) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(env, folder));
  return std::any_of(names.begin(), names.end(), IsEventFile);
}

absl::StatusOr<bool> HasResults(Env* env, const std::string& folder) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(env, folder));
  return std::find(names.begin(), names.end(), kResults) != names.end();
}

bool IsEvaluation(absl::string_view name) { return name == "eval" || absl::StartsWith(name, "eval_"); }

// True if a folder has records of a training or of evaluations.
absl::StatusOr<bool> IsRun(Env* env, const std::string& folder) {
  TD_ASSIGN_OR_RETURN(bool found, HasEventFile(env, folder));
  if (found) return true;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> folders, FoldersIn(env, folder));
  for (const std::string& name : folders) {
    if (!IsEvaluation(name)) continue;
    for (const auto& has : {HasEventFile, HasResults}) {
      TD_ASSIGN_OR_RETURN(found, has(env, JoinPath(folder, name)));
      if (found) return true;
    }
  }
  return false;
}

absl::Status ReadEvents(Env* env, const std::string& folder, Points* points, std::vector<absl::Status>* damaged) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(env, folder));
  for (const std::string& name : names) {
    if (!IsEventFile(name) || IsFolder(env, JoinPath(folder, name))) continue;
    const absl::Status status = ReadEventFile(env, JoinPath(folder, name), [points](const PlotEvent& event) {
      if (event.start) {
        for (auto& [tag, curve] : *points) curve.erase(curve.lower_bound(event.step), curve.end());
      }
      for (const auto& [tag, value] : event.scalars) (*points)[std::string(tag)][event.step] = value;
    });
    if (!status.ok()) damaged->push_back(status);
  }
  return absl::OkStatus();
}

// Reads the results that estimator/evaluation/eval_log.h writes. Skips results of another model's checkpoint and of
// initial values, because they are not part of this run's curve.
void ReadResults(Env* env, const std::string& path, Points* points, std::vector<absl::Status>* damaged) {
  const absl::StatusOr<std::string> text = ReadTextFile(env, path);
  if (!text.ok()) return damaged->push_back(text.status());
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const nlohmann::json json = ParseJson(line);
    const auto step = json.is_object() ? json.find("global_step") : json.end();
    if (!json.is_object() || step == json.end() || !step->is_number_integer()) {
      if (line.end() == text->data() + text->size()) break;  // the last line was cut off while it was being written
      damaged->push_back(absl::DataLossError(
          absl::StrCat(path, ":", number, ": the line is no result of an evaluation, a JSON object with global_step")));
      return;
    }
    const auto scope = json.find("evaluation_of");
    if (scope != json.end() && scope->is_object() && scope->contains("checkpoint")) continue;
    for (const auto& [name, value] : json.items()) {
      const std::optional<double> number = NumberFromJson(value);
      if (name != "global_step" && number.has_value()) (*points)[name][step->get<int64_t>()] = *number;
    }
  }
}

Curves ToCurves(const Points& points) {
  Curves curves;
  for (const auto& [tag, by_step] : points) {
    if (by_step.empty()) continue;
    std::vector<CurvePoint>& curve = curves[tag];
    curve.reserve(by_step.size());
    for (const auto& [step, value] : by_step) curve.push_back({step, value});
  }
  return curves;
}

absl::StatusOr<PlotRun> ReadRun(Env* env, const std::string& folder, std::vector<absl::Status>* damaged) {
  PlotRun run{.name = folder};
  TD_ASSIGN_OR_RETURN(std::vector<std::string> parts, FoldersIn(env, folder));
  parts.insert(parts.begin(), "");
  for (const std::string& part : parts) {
    const std::string path = part.empty() ? folder : JoinPath(folder, part);
    Points points;
    TD_RETURN_IF_ERROR(ReadEvents(env, path, &points, damaged));
    // The results are read after the events and replace their values, because event files have fewer digits.
    if (IsEvaluation(part)) {
      TD_ASSIGN_OR_RETURN(const bool has_results, HasResults(env, path));
      if (has_results) ReadResults(env, JoinPath(path, kResults), &points, damaged);
    }
    if (Curves curves = ToCurves(points); !curves.empty()) run.parts[part] = std::move(curves);
  }
  return run;
}

// Returns an error that says why there is nothing to draw.
absl::Status NoRecords(Env* env, const std::string& folder) {
  TD_ASSIGN_OR_RETURN(std::vector<std::string> there, NamesIn(env, folder));
  const size_t more = there.size() - std::min(there.size(), kMaxNamed);
  there.resize(there.size() - more);
  return absl::NotFoundError(absl::StrCat(
      folder, " has no records of a training: looked for scalars in event files (events.out.tfevents.*) in it and ",
      "in the folders in it, and for eval*/metrics.jsonl; there ",
      there.empty() ? "is nothing" : absl::StrCat("is ", absl::StrJoin(there, ", ")),
      more > 0 ? absl::StrCat(" and ", more, " more") : "",
      "; give the model_dir of a training with RunConfig.save_summary_steps above 0"));
}

absl::Status CheckFolder(Env* env, const std::string& folder) {
  const absl::StatusOr<FileInfo> info = env->Stat(folder);
  if (absl::IsNotFound(info.status())) {
    return absl::NotFoundError(absl::StrCat(folder, " does not exist; give the model_dir of a training"));
  }
  TD_RETURN_IF_ERROR(info.status());
  if (!info->is_directory) {
    return absl::InvalidArgumentError(absl::StrCat(folder, " is a file; give the folder that it is in, the model_dir"));
  }
  return env->ListDir(folder).status();
}

// Removes the leading folders that all names have in common.
void ShortenNames(std::vector<PlotRun>* runs) {
  if (runs->size() < 2) return;
  std::string common = (*runs)[0].name;
  do {
    common.pop_back();  // removes the last slash, or a letter of the last name, so that the next line removes that name
    common.erase(common.rfind('/') + 1);
  } while (!common.empty() && !std::all_of(runs->begin(), runs->end(),
                                           [&](const PlotRun& run) { return absl::StartsWith(run.name, common); }));
  for (PlotRun& run : *runs) run.name.erase(0, common.size());
}

}  // namespace

absl::StatusOr<PlotRuns> ReadRuns(Env* env, const std::vector<std::string>& folders) {
  PlotRuns result;
  std::set<std::string> seen;
  for (std::string folder : folders) {
    while (folder.size() > 1 && absl::EndsWith(folder, "/")) folder.pop_back();
    if (!seen.insert(folder).second) continue;
    TD_RETURN_IF_ERROR(CheckFolder(env, folder));
    std::vector<std::string> runs = {folder};
    TD_ASSIGN_OR_RETURN(const bool is_run, IsRun(env, folder));
    if (!is_run) {
      runs.clear();
      TD_ASSIGN_OR_RETURN(const std::vector<std::string> names, FoldersIn(env, folder));
      for (const std::string& name : names) {
        std::string inner = JoinPath(folder, name);
        TD_ASSIGN_OR_RETURN(const bool inner_is_run, IsRun(env, inner));
        if (inner_is_run) runs.push_back(std::move(inner));
      }
    }
    const size_t before = result.runs.size(), damaged_before = result.damaged.size();
    for (const std::string& path : runs) {
      TD_ASSIGN_OR_RETURN(PlotRun run, ReadRun(env, path, &result.damaged));
      if (!run.parts.empty()) result.runs.push_back(std::move(run));
    }
    if (result.runs.size() > before) continue;
    return result.damaged.size() > damaged_before ? result.damaged[damaged_before] : NoRecords(env, folder);
  }
  ShortenNames(&result.runs);
  return result;
}

}  // namespace tandem
