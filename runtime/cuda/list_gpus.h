// The GPUs of this machine.
#ifndef TANDEM_RUNTIME_CUDA_LIST_GPUS_H_
#define TANDEM_RUNTIME_CUDA_LIST_GPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

struct GpuInfo {
  std::string model;           // "NVIDIA H200"
  int compute_capability = 0;  // 90 for 9.0
  uint64_t memory_bytes = 0;
};

// GPU i is the device "gpu:i": those that CUDA_VISIBLE_DEVICES leaves, in the driver's order. Takes no memory on any of
// them. Errors: those of LoadDriver (FailedPrecondition, exit code 2): no driver, one that is too old, no GPU.
absl::StatusOr<std::vector<GpuInfo>> ListGpus();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIST_GPUS_H_
