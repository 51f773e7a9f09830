// The GPUs of this machine.
#ifndef TANDEM_RUNTIME_CUDA_DEVICE_LIST_GPUS_H_
#define TANDEM_RUNTIME_CUDA_DEVICE_LIST_GPUS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/session/device_class.h"

namespace tandem {

// Returns the GPUs that CUDA_VISIBLE_DEVICES leaves, in the driver's order. Errors: those of LoadDriver
// (FailedPrecondition, exit code 2): no driver, one that is too old, no GPU.
absl::StatusOr<std::vector<DeviceInfo>> ListGpus();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DEVICE_LIST_GPUS_H_
