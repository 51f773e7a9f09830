#include "runtime/step_description.h"

#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

// A kernel is checked as a whole, so all that the user wrote into it is named: " fused with Log [model.cc:7 (Log)]".
std::string FusedWith(const Executable& executable, const fb::StepT& step) {
  if (step.body.type != fb::StepBody::KernelLaunch) return "";
  const fb::KernelT& kernel = *executable.index().kernels[step.body.AsKernelLaunch()->kernel];
  absl::btree_set<uint32_t> locations(kernel.locations.begin(), kernel.locations.end());
  locations.erase(step.location);
  std::vector<std::string> others;
  for (uint32_t location : locations) {
    std::string text = executable.LocationString(location);
    if (!text.empty()) others.push_back(text);
  }
  return others.empty() ? "" : absl::StrCat(" fused with ", absl::StrJoin(others, ", "));
}

}  // namespace

std::string DescribeStep(const Executable& executable, const fb::StepT& step, int replica) {
  std::string location = executable.LocationString(step.location);
  return absl::StrCat(step.name, location.empty() ? "" : absl::StrCat(" [", location, "]"), FusedWith(executable, step),
                      ", replica ", replica, " (", executable.index().replicas[replica]->device, ")");
}

}  // namespace tandem
