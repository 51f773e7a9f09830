#include "estimator/internal/eval_spec_list.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/internal/exporter_run.h"

namespace tandem {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ", ",
                       [](std::string* out, const std::string& name) { absl::StrAppend(out, "\"", name, "\""); });
}

absl::Status WrongList(const std::vector<EvalSpec>& specs, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("TrainAndEvaluate: of the ", specs.size(), " evaluations ", problem,
                   "; each needs a name of its own (EvalSpec.name), by which its results are told apart"));
}

// Checks that no two evaluations have exporters of one name: all of them export to folders in the same directory.
absl::Status CheckExporters(const std::vector<EvalSpec>& specs) {
  std::map<std::string, std::string> evaluations;  // the evaluation's name, by its exporter's name
  for (const EvalSpec& spec : specs) {
    for (const auto& exporter : spec.exporters) {
      TD_ASSIGN_OR_RETURN(const std::string name, CallUserCode([&] { return exporter->name(); }));
      const auto [other, is_new] = evaluations.emplace(name, spec.name);
      if (is_new) continue;
      return absl::InvalidArgumentError(absl::StrCat("TrainAndEvaluate: the evaluations \"", other->second, "\" and \"",
                                                     spec.name, "\" both have an exporter \"", name,
                                                     "\", and would export to the same folder; rename one"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateEvalSpecs(const std::vector<EvalSpec>& specs) {
  if (specs.empty()) {
    return absl::InvalidArgumentError(
        "TrainAndEvaluate: there are no evaluations; give it an EvalSpec, or call Estimator::Train");
  }
  if (specs.size() > 1) {
    std::map<std::string, size_t> first;  // index of the first evaluation with a name, by that name
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto [other, is_new] = first.emplace(specs[i].name, i);
      if (!is_new && specs[i].name.empty()) {
        return WrongList(specs, absl::StrCat("number ", other->second + 1, " and number ", i + 1, " have no name"));
      }
      if (!is_new) {
        return WrongList(specs, absl::StrCat("number ", other->second + 1, " and number ", i + 1, " have the name \"",
                                             specs[i].name, "\""));
      }
    }
    if (const auto nameless = first.find(""); nameless != first.end()) {
      std::vector<std::string> names = EvaluationNames(specs);
      std::erase(names, "");
      return WrongList(specs, absl::StrCat("number ", nameless->second + 1, " has no name, beside ", Quoted(names)));
    }
  }
  for (const EvalSpec& spec : specs) {
    if (spec.name.find('/') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("EvalSpec: the name \"", spec.name,
                                                     "\" is none of a folder, eval_<name> in model_dir; leave slashes "
                                                     "out"));
    }
    const std::string title = specs.size() > 1 ? EvaluationTitle(specs, spec) + ": " : "";
    TD_RETURN_IF_ERROR(Annotate(spec.Validate(), title));
  }
  return CheckExporters(specs);
}

std::vector<std::string> EvaluationNames(const std::vector<EvalSpec>& specs) {
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const EvalSpec& spec : specs) names.push_back(spec.name);
  return names;
}

std::string EvaluationTitle(const std::vector<EvalSpec>& specs, const EvalSpec& spec) {
  return specs.size() > 1 ? absl::StrCat("evaluation \"", spec.name, "\"") : "evaluation";
}

absl::Status CheckEvaluationName(absl::string_view where, const std::string& asked,
                                 const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), asked) != names.end()) return absl::OkStatus();
  if (asked.empty() && names.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": there are several evaluations, and it names none; set `evaluation` to one of ", Quoted(names)));
  }
  const std::string nearest = NearestName(asked, names);
  if (asked.empty() || nearest.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(where, ": there is no evaluation \"", asked,
                                                 "\" (EvalSpec.name); did "
                                                 "you mean \"",
                                                 nearest, "\"? There are ", Quoted(names)));
}

absl::StatusOr<int> FindEvaluation(absl::string_view where, const std::string& asked,
                                   const std::vector<std::string>& names) {
  if (asked.empty() && names.size() == 1) return 0;
  TD_RETURN_IF_ERROR(CheckEvaluationName(where, asked, names));
  const auto found = std::find(names.begin(), names.end(), asked);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  return absl::InvalidArgumentError(absl::StrCat(where, ": there is no evaluation \"", asked,
                                                 "\" (EvalSpec.name) in this TrainAndEvaluate; there are ",
                                                 Quoted(names)));
}

}  // namespace tandem
