#include "estimator/warm_start.h"

#include <memory>
#include <regex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint_reader.h"

namespace tandem {

absl::StatusOr<TensorMap> ReadWarmStart(Env* env, const WarmStartSettings& settings,
                                        const std::vector<VariableSpec>& variables) {
  TD_LOG(INFO) << "Warm-starting with WarmStartSettings: {path: " << settings.path
               << ", vars_to_warm_start: " << settings.vars_to_warm_start << "}";
  absl::StatusOr<std::unique_ptr<CheckpointReader>> reader = CheckpointReader::Open(env, settings.path);
  TD_RETURN_IF_ERROR(
      Annotate(reader.status(), "warm_start_from: ", "; name a file of weights, a checkpoint or a model_dir"));
  const std::regex pattern(settings.vars_to_warm_start);  // RunConfig::Validate has tried it
  TensorMap values;
  std::vector<std::string> problems, chosen, absent;
  for (const VariableSpec& variable : variables) {
    if (!std::regex_match(variable.name, pattern)) continue;
    chosen.push_back(variable.name);
    if (!(*reader)->Contains(variable.name)) {
      // Slots of a fresh optimizer are not expected in a file of weights.
      if (variable.slot_of.empty()) absent.push_back(variable.name);
      continue;
    }
    TD_ASSIGN_OR_RETURN(HostTensor value, (*reader)->Read(variable.name));
    if (value.dtype() != variable.dtype || value.shape() != variable.shape) {
      problems.push_back(absl::StrCat(variable.name, ": ", Name(value.dtype()), ShapeString(value.shape()),
                                      " in the file, ", Name(variable.dtype), ShapeString(variable.shape),
                                      " in the model"));
      continue;
    }
    values[variable.name] = std::move(value);
  }
  if (!problems.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("warm_start_from: ", settings.path, " does not fit the model:\n  ",
                                                   absl::StrJoin(problems, "\n  ")));
  }
  if (values.empty()) {
    std::vector<std::string> names;
    for (const SavedTensor& tensor : (*reader)->variables()) names.push_back(tensor.name);
    return absl::InvalidArgumentError(absl::StrCat(
        "warm_start_from: ", settings.path, " has none of the variables that \"", settings.vars_to_warm_start,
        "\" chooses (", absl::StrJoin(chosen, ", "), "); it has ", absl::StrJoin(names, ", ")));
  }
  if (!absent.empty()) {
    TD_LOG(WARNING) << "Not in " << settings.path << ", so initialised as usual: " << absl::StrJoin(absent, ", ");
  }
  TD_LOG(INFO) << "Warm-started " << values.size() << " of " << variables.size() << " variables.";
  return values;
}

}  // namespace tandem
