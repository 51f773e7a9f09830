#include "runtime/cuda/device/device_snapshot.h"

#include <utility>

#include "base/align.h"
#include "base/status_macros.h"
#include "runtime/cuda/driver/memory_calls.h"

namespace tandem {
namespace {

// This part (1 / kReservedPart) of the memory stays free for later allocations: those of libraries on first use, and
// those of sessions for other modes.
constexpr size_t kReservedPart = 16;

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceSnapshot>> DeviceSnapshot::Take(std::shared_ptr<CudaDevice> device,
                                                                     absl::Span<const DeviceMemory::Region> regions) {
  TD_RETURN_IF_ERROR(device->MakeCurrent());
  const DriverApi& driver = device->driver();
  uint64_t bytes = 0;
  for (const DeviceMemory::Region& region : regions) bytes += AlignUp(region.bytes, 256);
  size_t free = 0, total = 0;
  TD_CU(driver, cuMemGetInfo_v2(&free, &total));
  if (bytes == 0 || free < bytes + total / kReservedPart) return nullptr;
  auto snapshot = std::unique_ptr<DeviceSnapshot>(new DeviceSnapshot(std::move(device)));
  const CUresult made = MemAlloc(driver, &snapshot->memory_, bytes);
  if (made == kCudaOutOfMemory) {  // no contiguous part of the free memory is large enough
    snapshot->memory_ = 0;
    return nullptr;
  }
  TD_RETURN_IF_ERROR(CudaStatus(driver, made, "cuMemAlloc_v2"));
  TD_RETURN_IF_ERROR(snapshot->Copy(regions));
  return snapshot;
}

absl::Status DeviceSnapshot::Copy(absl::Span<const DeviceMemory::Region> regions) {
  const DriverApi& driver = device_->driver();
  TD_ASSIGN_OR_RETURN(staging_, device_->TakeStaging());
  CUdeviceptr at = memory_;
  for (const DeviceMemory::Region& region : regions) {
    if (region.bytes == 0) continue;
    TD_CU(driver, cuMemcpyDtoDAsync_v2(at, region.address, region.bytes, staging_->stream()));
    copies_.push_back({at, region.to, region.bytes});
    at += AlignUp(region.bytes, 256);
  }
  TD_CU(driver, cuStreamSynchronize(staging_->stream()));
  idle_ = true;
  return absl::OkStatus();
}

absl::Status DeviceSnapshot::Read() {
  absl::Status status = device_->MakeCurrent();
  if (status.ok()) {
    status = staging_->Download(copies_);
    idle_ = status.ok();
  }
  return device_->Check(status);
}

DeviceSnapshot::~DeviceSnapshot() {
  if (device_->lost() || !device_->MakeCurrent().ok()) {
    if (staging_ != nullptr) staging_->Forget();
    return;
  }
  if (idle_) device_->GiveBackStaging(std::move(staging_));
  staging_.reset();
  if (memory_ != 0) MemFree(device_->driver(), memory_);
}

}  // namespace tandem
