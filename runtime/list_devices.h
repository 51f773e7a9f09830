// The devices of this machine, by class. What lists a class registers itself when it is linked in, so that callers do
// not know the drivers.
#ifndef TANDEM_RUNTIME_LIST_DEVICES_H_
#define TANDEM_RUNTIME_LIST_DEVICES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

struct DeviceInfo {
  std::string model;           // "NVIDIA H200"
  int compute_capability = 0;  // of a GPU: 90 for 9.0
  uint64_t memory_bytes = 0;
  std::string driver = "";  // of a GPU: the newest CUDA that its driver knows, "12.4"
};

// Device i of the class "gpu" is "gpu:i". Takes no memory on any of them. "cpu" has no list: its devices are shares of
// this process, as many as asked for. FailedPrecondition (exit code 2) for a class that is not linked in; else the
// class's own errors, such as a driver that is not there.
absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const std::string& device_class);

using DeviceLister = std::function<absl::StatusOr<std::vector<DeviceInfo>>()>;
// Called while the process starts, by what is linked in. False when the class has a lister already.
bool RegisterDeviceLister(const std::string& device_class, DeviceLister lister);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIST_DEVICES_H_
