#include "estimator/strategy.h"

#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace tandem {
namespace {

constexpr int kMaxCpuDevices = 64;

// Why `device` cannot be used; empty when it can.
std::string Problem(const std::string& device) {
  absl::string_view rest = device;
  if (absl::StartsWith(rest, "gpu:")) return "this build has no GPU backend";
  int index = 0;
  const bool number = absl::StartsWith(rest, "cpu:") && absl::SimpleAtoi(rest.substr(4), &index);
  // The round trip refuses "cpu:00" and "cpu:+1", which would be second names of a device.
  if (!number || index < 0 || index >= kMaxCpuDevices || device != absl::StrCat("cpu:", index)) {
    return "there is no such device";
  }
  return "";
}

}  // namespace

absl::Status DistributionStrategy::Validate() const {
  std::vector<std::string> problems;
  if (devices.empty()) problems.push_back("the list of devices is empty");
  std::set<std::string> seen;
  for (const std::string& device : devices) {
    if (std::string problem = Problem(device); !problem.empty()) {
      problems.push_back(absl::StrCat("device \"", device, "\": ", problem));
    } else if (!seen.insert(device).second) {
      problems.push_back(absl::StrCat("device \"", device, "\" is named twice"));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", absl::StrJoin(problems, "; "),
                                                 ". Allowed are cpu:0 to cpu:", kMaxCpuDevices - 1,
                                                 ", each at most once."));
}

DistributionStrategy MirroredStrategy(std::vector<std::string> devices) {
  return {.name = "MirroredStrategy", .devices = std::move(devices)};
}

DistributionStrategy OneDeviceStrategy(std::string device) {
  return {.name = "OneDeviceStrategy", .devices = {std::move(device)}};
}

}  // namespace tandem
