// A copy of variables in device memory, from which a checkpoint is read while the next steps run.
#ifndef TANDEM_RUNTIME_CUDA_DEVICE_DEVICE_SNAPSHOT_H_
#define TANDEM_RUNTIME_CUDA_DEVICE_DEVICE_SNAPSHOT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/device/cuda_device.h"
#include "runtime/cuda/driver/transfer_staging.h"

namespace tandem {

class DeviceSnapshot : public DeviceMemory::Snapshot {
 public:
  // Copies the regions on the device, on a stream of its own, and waits for that: a gigabyte takes less than a
  // millisecond, and whatever is issued afterwards may overwrite them. Null when the device has too little memory for a
  // copy and for later allocations of libraries.
  static absl::StatusOr<std::unique_ptr<DeviceSnapshot>> Take(std::shared_ptr<CudaDevice> device,
                                                              absl::Span<const DeviceMemory::Region> regions);
  // Frees the copy and returns the staging to the device.
  ~DeviceSnapshot() override;

  absl::Status Read() override;

 private:
  explicit DeviceSnapshot(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {}
  absl::Status Copy(absl::Span<const DeviceMemory::Region> regions);

  std::shared_ptr<CudaDevice> device_;
  CUdeviceptr memory_ = 0;
  std::unique_ptr<TransferStaging> staging_;
  bool idle_ = false;                         // true if certainly no work is queued on the staging
  std::vector<DeviceMemory::Region> copies_;  // the regions' copies on the device
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DEVICE_DEVICE_SNAPSHOT_H_
