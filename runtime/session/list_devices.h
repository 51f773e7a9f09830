// The devices of this machine, by class. The code that lists a class registers itself when it is linked in, so that
// callers do not know the drivers.
#ifndef TANDEM_RUNTIME_SESSION_LIST_DEVICES_H_
#define TANDEM_RUNTIME_SESSION_LIST_DEVICES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

struct DeviceInfo {
  std::string model;           // "NVIDIA H200"
  int compute_capability = 0;  // for GPUs: 90 for 9.0
  uint64_t memory_bytes = 0;
  std::string driver = "";  // for GPUs: the newest CUDA version that the driver supports, "12.4"
};

// Returns the devices of a class; device i of the class "gpu" is "gpu:i". Allocates no memory on any of them. "cpu" has
// no list: its devices are shares of this process, as many as are requested. FailedPrecondition (exit code 2) for a
// class that is not linked in; else the class's own errors, such as a missing driver.
absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const std::string& device_class);

using DeviceLister = std::function<absl::StatusOr<std::vector<DeviceInfo>>()>;
// Registers the lister of a class; called while the process starts, by the code that is linked in. False when the class
// has a lister already.
bool RegisterDeviceLister(const std::string& device_class, DeviceLister lister);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_LIST_DEVICES_H_
