// The options of tandem-launch.
#ifndef TANDEM_TOOLS_LAUNCH_OPTIONS_H_
#define TANDEM_TOOLS_LAUNCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/launch/layout.h"

namespace tandem {

struct LaunchOptions {
  // The tasks of the first start; later starts may have fewer workers.
  Layout layout;
  // The smallest number of workers that a restart after failures may have, or that an operator may request. With
  // nullopt, restarts do not change the number of workers, and an operator may request any number from one.
  std::optional<int64_t> min_workers;
  int64_t max_restarts = 0;
  // How long, in seconds, a process may run after it was asked to end. Then it is killed.
  double grace_seconds = 30;
  // If true, each line of output begins with the name of the task that printed it.
  bool prefix = true;
  // The program that every task runs, and its arguments.
  std::vector<std::string> command;
};

// Parses "tf_config" or "torchrun". Returns InvalidArgument, which suggests the more similar name, for other text.
absl::StatusOr<Variables> ParseVariables(absl::string_view name);

// Returns InvalidArgument, with the option, its value and the allowed values, if an option is wrong.
absl::Status CheckOptions(const LaunchOptions& options);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OPTIONS_H_
