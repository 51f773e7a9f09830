#include "tools/launch/options.h"

#include "absl/strings/str_cat.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr int64_t kMostTasks = 1024;
constexpr int64_t kMostRestarts = 1000000;
constexpr double kLongestGrace = 7 * 24 * 3600;

absl::Status CheckNumber(absl::string_view flag, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, " is ", value, "; it may be from ", least, " to ", most));
}

}  // namespace

absl::StatusOr<Variables> ParseVariables(absl::string_view name) {
  if (name == "tf_config") return Variables::kTfConfig;
  if (name == "torchrun") return Variables::kTorchrun;
  const std::string nearest = NearestName(name, {"tf_config", "torchrun"});
  return absl::InvalidArgumentError(absl::StrCat("--environment is \"", PrintableLine(name),
                                                 "\"; it may be tf_config or torchrun",
                                                 nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

absl::Status CheckOptions(const LaunchOptions& options) {
  const Layout& layout = options.layout;
  TD_RETURN_IF_ERROR(CheckNumber("-n (--workers)", layout.workers, 1, kMostTasks));
  TD_RETURN_IF_ERROR(CheckNumber("--ps", layout.parameter_servers, 0, kMostTasks));
  TD_RETURN_IF_ERROR(CheckNumber("--max_restarts", options.max_restarts, 0, kMostRestarts));
  if (layout.variables == Variables::kTorchrun && (layout.parameter_servers > 0 || layout.evaluator)) {
    return absl::InvalidArgumentError(
        absl::StrCat(layout.evaluator ? "--evaluator" : "--ps",
                     " needs --environment=tf_config: the variables of torchrun know no tasks but workers"));
  }
  if (options.min_workers && (*options.min_workers < 1 || *options.min_workers > layout.workers)) {
    return absl::InvalidArgumentError(absl::StrCat("--min_workers is ", *options.min_workers, "; it may be from 1 to ",
                                                   layout.workers, ", the number of workers (-n)"));
  }
  // The condition has this form so that NaN is rejected too.
  if (!(options.grace_seconds >= 0 && options.grace_seconds <= kLongestGrace)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--grace_seconds is ", options.grace_seconds, "; it may be from 0 to ", kLongestGrace));
  }
  if (options.command.empty() || options.command[0].empty()) {
    return absl::InvalidArgumentError("no program to start: tandem-launch -n 4 -- PROGRAM FLAGS");
  }
  return absl::OkStatus();
}

}  // namespace tandem
