// Distribution strategies: which devices run a step together.
#ifndef TANDEM_ESTIMATOR_STRATEGY_H_
#define TANDEM_ESTIMATOR_STRATEGY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tandem {

// A description only; the compiler does the replicating. The order of the devices is the order of the replicas.
struct DistributionStrategy {
  std::string name = "OneDeviceStrategy";
  std::vector<std::string> devices = {"cpu:0"};

  int num_replicas() const { return static_cast<int>(devices.size()); }
  // InvalidArgument, listing everything that is wrong and what is allowed: no device, a device named twice, a device
  // that this build cannot drive.
  absl::Status Validate() const;
};

// Every device holds a copy of all variables and works on its own batch; gradients are all-reduced at every step.
DistributionStrategy MirroredStrategy(std::vector<std::string> devices);
DistributionStrategy OneDeviceStrategy(std::string device);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STRATEGY_H_
