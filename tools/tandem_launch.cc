// tandem-launch -n N -- PROGRAM ...: starts the processes of a training on this machine, watches them, and restarts
// them when one is lost. See docs/guide/cluster.md.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/flag_table.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "tools/launch/launch.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct LaunchFlags : FlagTable {
  Flag<std::optional<int64_t>> workers{this, "workers", {}, "Workers, from 1 to 1024; the first is the chief."};
  Flag<std::optional<int64_t>> n{this, "n", {}, "Short for --workers."};
  Flag<int64_t> ps{this, "ps", 0,
                   "Parameter servers. With them the first worker is a task of type chief. Needs tf_config."};
  Flag<bool> evaluator{this, "evaluator", false, "Start an evaluator, too. Needs tf_config."};
  Flag<std::string> environment{this, "environment", "tf_config",
                                "By which variables tasks learn who they are: tf_config or torchrun."};
  Flag<int64_t> max_restarts{this, "max_restarts", 0,
                             "How often all are started again after a failure that may be temporary."};
  Flag<std::optional<int64_t>> min_workers{
      this, "min_workers", {}, "When the same worker fails twice in a row, restarts have one fewer, down to so many."};
  Flag<double> grace_seconds{this, "grace_seconds", 30,
                             "Seconds that tasks have to end after a signal before they are killed."};
  Flag<bool> no_prefix{this, "no_prefix", false, "Do not begin lines with the task that printed them."};
};

constexpr char kUsage[] = "tandem-launch -n 4 -- PROGRAM FLAGS";

absl::StatusOr<int64_t> Workers(const LaunchFlags& flags) {
  const std::optional<int64_t> n = *flags.n, workers = *flags.workers;
  if (n && workers && *n != *workers) {
    return absl::InvalidArgumentError(
        absl::StrCat("-n is ", *n, " and --workers is ", *workers, "; leave one of them"));
  }
  if (!n && !workers) return absl::InvalidArgumentError(absl::StrCat("how many workers? ", kUsage));
  return n ? *n : *workers;
}

absl::Status Run(const LaunchFlags& flags, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& command) {
  if (!arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", PrintableLine(arguments[0]), "\" is no flag; the program follows \"--\": ", kUsage));
  }
  LaunchOptions options;
  TD_ASSIGN_OR_RETURN(options.layout.variables, ParseVariables(*flags.environment));
  TD_ASSIGN_OR_RETURN(options.layout.workers, Workers(flags));
  options.layout.parameter_servers = *flags.ps;
  options.layout.evaluator = *flags.evaluator;
  options.min_workers = *flags.min_workers;
  options.max_restarts = *flags.max_restarts;
  options.grace_seconds = *flags.grace_seconds;
  options.prefix = !*flags.no_prefix;
  options.command = command;
  return Launch(options);
}

}  // namespace

int TandemLaunch(int argc, char** argv) {
  // Arguments after "--" belong to the program that is launched, even "--help".
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* argument) { return absl::string_view(argument) == "--"; });
  const std::vector<std::string> command(dashes == end ? end : dashes + 1, end);
  return RunToolProgram<LaunchFlags>(
      static_cast<int>(dashes - argv), argv,
      "starts the processes of a training on this machine: tandem-launch -n 4 -- PROGRAM FLAGS",
      [&](const LaunchFlags& flags, const std::vector<std::string>& arguments) {
        return Run(flags, arguments, command);
      });
}

}  // namespace tandem
