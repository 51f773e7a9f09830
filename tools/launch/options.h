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
  // The smallest number of workers that a restart after failures may have, or an operator may ask for. nullopt:
  // restarts keep the number of workers, and an operator may ask for as few as one.
  std::optional<int64_t> min_workers;
  int64_t max_restarts = 0;
  // The time that a process gets to end after it was asked to.
  double grace_seconds = 30;
  // If true, lines begin with the task that printed them.
  bool prefix = true;
  // The program and its arguments.
  std::vector<std::string> command;
};

// Parses "tf_config" or "torchrun". InvalidArgument suggests the most similar name.
absl::StatusOr<Variables> ParseVariables(absl::string_view name);

// InvalidArgument says which option is wrong, its value, and the allowed values.
absl::Status CheckOptions(const LaunchOptions& options);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OPTIONS_H_
