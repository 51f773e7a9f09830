// tandem-launch -n N -- PROGRAM ...: starts the processes of a training on this machine, watches them, and restarts
// them when one is lost. See docs/guide/cluster.md.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "tools/launch/launch.h"

ABSL_FLAG(std::optional<int64_t>, workers, {}, "Workers, from 1 to 1024; the first is the chief.");
ABSL_FLAG(std::optional<int64_t>, n, {}, "Short for --workers.");
ABSL_FLAG(int64_t, ps, 0, "Parameter servers. With them the first worker is a task of type chief. Needs tf_config.");
ABSL_FLAG(bool, evaluator, false, "Start an evaluator, too. Needs tf_config.");
ABSL_FLAG(std::string, environment, "tf_config", "By which variables tasks learn who they are: tf_config or torchrun.");
ABSL_FLAG(int64_t, max_restarts, 0, "How often all are started again after a failure that may be temporary.");
ABSL_FLAG(std::optional<int64_t>, min_workers, {},
          "When the same worker fails twice in a row, restarts have one fewer, down to so many.");
ABSL_FLAG(double, grace_seconds, 30, "Seconds that tasks have to end after a signal before they are killed.");
ABSL_FLAG(bool, no_prefix, false, "Do not begin lines with the task that printed them.");

namespace tandem {
namespace {

constexpr char kUsage[] = "tandem-launch -n 4 -- PROGRAM FLAGS";

absl::StatusOr<int64_t> Workers() {
  const std::optional<int64_t> n = absl::GetFlag(FLAGS_n), workers = absl::GetFlag(FLAGS_workers);
  if (n && workers && *n != *workers) {
    return absl::InvalidArgumentError(
        absl::StrCat("-n is ", *n, " and --workers is ", *workers, "; leave one of them"));
  }
  if (!n && !workers) return absl::InvalidArgumentError(absl::StrCat("how many workers? ", kUsage));
  return n ? *n : *workers;
}

absl::Status Run(const std::vector<std::string>& arguments, const std::vector<std::string>& command) {
  if (!arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", PrintableLine(arguments[0]), "\" is no flag; the program follows \"--\": ", kUsage));
  }
  LaunchOptions options;
  TD_ASSIGN_OR_RETURN(options.layout.variables, ParseVariables(absl::GetFlag(FLAGS_environment)));
  TD_ASSIGN_OR_RETURN(options.layout.workers, Workers());
  options.layout.parameter_servers = absl::GetFlag(FLAGS_ps);
  options.layout.evaluator = absl::GetFlag(FLAGS_evaluator);
  options.min_workers = absl::GetFlag(FLAGS_min_workers);
  options.max_restarts = absl::GetFlag(FLAGS_max_restarts);
  options.grace_seconds = absl::GetFlag(FLAGS_grace_seconds);
  options.prefix = !absl::GetFlag(FLAGS_no_prefix);
  options.command = command;
  return Launch(options);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  // Arguments after "--" belong to the program that is launched, even "--help".
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* argument) { return absl::string_view(argument) == "--"; });
  const std::vector<std::string> command(dashes == end ? end : dashes + 1, end);
  return tandem::RunProgram(static_cast<int>(dashes - argv), argv,
                            "starts the processes of a training on this machine: tandem-launch -n 4 -- PROGRAM FLAGS",
                            [&](const std::vector<std::string>& arguments) { return tandem::Run(arguments, command); });
}
