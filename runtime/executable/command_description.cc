#include "runtime/executable/command_description.h"

#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

size_t Launches(const format::Index& index, uint32_t kernel) {
  size_t count = 0;
  for (const auto& command : CommandsInOrder(index.programs[0])) {
    const std::optional<KernelLaunches> launches = command->launches();
    if (launches && launches->kernel == kernel) count += launches->counts.size();
  }
  return count;
}

// Returns the names of all other ops of the command's kernel, because a kernel is checked as a whole: " fused with Log
// [model.cc:7 (Log)]".
std::string FusedWith(const Executable& executable, const format::Command& command) {
  const std::optional<KernelLaunches> launches = NewCommand(command)->launches();
  if (!launches) return "";
  const format::Kernel& kernel = executable.index().kernels[launches->kernel];
  absl::btree_set<uint32_t> locations(kernel.locations.begin(), kernel.locations.end());
  // A kernel that is launched several times lists the ops of only one launch, which may not be this one.
  if (locations.erase(command.location) == 0 && Launches(executable.index(), launches->kernel) > 1) return "";
  std::vector<std::string> others;
  for (uint32_t location : locations) {
    std::string text = executable.LocationString(location);
    if (!text.empty()) others.push_back(text);
  }
  return others.empty() ? "" : absl::StrCat(" fused with ", absl::StrJoin(others, ", "));
}

}  // namespace

std::string DescribeCommand(const Executable& executable, const format::Command& command, int replica) {
  std::string location = executable.LocationString(command.location);
  return absl::StrCat(command.name, location.empty() ? "" : absl::StrCat(" [", location, "]"),
                      FusedWith(executable, command), ", replica ", replica, " (",
                      executable.index().replicas[replica].device, ")");
}

}  // namespace tandem
