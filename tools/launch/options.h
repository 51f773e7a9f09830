// What tandem-launch is told to do.
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
  // What is started at first; later starts may have fewer workers.
  Layout layout;
  // So few workers a restart after failures may have, and an operator may ask for. Nothing: a restart has as many as
  // before, and an operator may ask for one.
  std::optional<int64_t> min_workers;
  int64_t max_restarts = 0;
  // How long a process may take to end after it was asked to.
  double grace_seconds = 30;
  // Lines begin with the task that printed them.
  bool prefix = true;
  // The program and its arguments.
  std::vector<std::string> command;
};

// "tf_config" or "torchrun". InvalidArgument suggests the nearest.
absl::StatusOr<Variables> ParseVariables(absl::string_view name);

// InvalidArgument says which option is wrong, its value, and what it may be.
absl::Status CheckOptions(const LaunchOptions& options);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OPTIONS_H_
