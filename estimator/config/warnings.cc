#include "estimator/config/warnings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/nearest_name.h"

namespace tandem {
namespace {

std::vector<std::string> WarningNames() {
  std::vector<std::string> names;
  for (const absl::string_view name : {kInputEndedEarly, kEndlessTraining, kUnreadParams, kScoresForProbabilities,
                                       kProbabilitiesForLogits, kStaleMomentum, kWatchedNotFinite, kUntrainedWeights}) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::string SilenceProblem(const std::vector<std::string>& silence) {
  const std::vector<std::string> known = WarningNames();
  for (const std::string& name : silence) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = NearestName(name, known);
    return absl::StrCat("silence: there is no warning \"", name, "\"; ",
                        nearest.empty() ? "there are " : absl::StrCat("did you mean \"", nearest, "\"? There are "),
                        absl::StrJoin(known, ", "));
  }
  return "";
}

void LogWarning(const std::vector<std::string>& silence, absl::string_view name, absl::string_view message) {
  if (std::find(silence.begin(), silence.end(), name) != silence.end()) return;
  TD_LOG(WARNING) << message << " (RunConfig.silence = {\"" << name << "\"} switches this warning off.)";
}

}  // namespace tandem
