#include "runtime/step_description.h"

#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem {
namespace {

int Launches(const fb::ExecutableT& index, uint32_t kernel) {
  int launches = 0;
  for (const auto& section : index.programs[0]->sections) {
    for (const auto& step : section->steps) {
      const auto* launch = step->body.AsKernelLaunch();
      launches += launch != nullptr && launch->kernel == kernel;
    }
  }
  return launches;
}

// A kernel is checked as a whole, so all that the user wrote into it is named: " fused with Log [model.cc:7 (Log)]".
std::string FusedWith(const Executable& executable, const fb::StepT& step) {
  if (step.body.type != fb::StepBody::KernelLaunch) return "";
  const uint32_t kernel_index = step.body.AsKernelLaunch()->kernel;
  const fb::KernelT& kernel = *executable.index().kernels[kernel_index];
  absl::btree_set<uint32_t> locations(kernel.locations.begin(), kernel.locations.end());
  // The ops of a kernel that several steps launch are those of one of them.
  if (locations.erase(step.location) == 0 && Launches(executable.index(), kernel_index) > 1) return "";
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
