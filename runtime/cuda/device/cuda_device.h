// A GPU as the process uses it: its primary context, which all sessions and the variables on it share, and owners of
// objects that belong to a context.
#ifndef TANDEM_RUNTIME_CUDA_DEVICE_CUDA_DEVICE_H_
#define TANDEM_RUNTIME_CUDA_DEVICE_CUDA_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/cuda/driver/transfer_staging.h"
#include "runtime/cuda/kernels/builtin_kernels.h"
#include "runtime/variables/device_memory.h"

namespace tandem {

// Thread-safe. Every call makes the device's context the thread's current one.
class CudaDevice : public DeviceMemory, public std::enable_shared_from_this<CudaDevice> {
 public:
  // Returns the device that the driver counts as `ordinal` (of those that CUDA_VISIBLE_DEVICES leaves). There is one
  // object for it in a process while someone holds it. Errors: those of LoadDriver; FailedPrecondition (exit code 2)
  // for an ordinal that does not exist, saying how many devices there are.
  static absl::StatusOr<std::shared_ptr<CudaDevice>> Get(int ordinal);
  ~CudaDevice() override;

  const DriverApi& driver() const { return *driver_; }
  int ordinal() const { return ordinal_; }
  CUcontext context() const { return context_; }
  const std::string& name() const override { return name_; }      // "gpu:0"
  const std::string& model() const { return model_; }             // "NVIDIA H200"
  int compute_capability() const { return compute_capability_; }  // 90 for 9.0
  BuiltinKernels& kernels() { return *kernels_; }

  // Makes the device's context the thread's current one. Does not call the driver if the context is current already and
  // the process uses no other GPU.
  absl::Status MakeCurrent();

  // Marks the device as lost if `status` says so, and returns `status` with the device's name. A lost device is left
  // alone: nothing on it is freed, and all calls return Unavailable.
  absl::Status Check(const absl::Status& status);
  bool lost() const { return lost_; }
  void MarkLost() { lost_ = true; }

  // Returns a staging for a snapshot, which is read while other transfers run. It is one that GiveBackStaging has kept,
  // or a new one. The device's context is current afterwards.
  absl::StatusOr<std::unique_ptr<TransferStaging>> TakeStaging();
  // Keeps the staging for the next snapshot, because pinning its memory takes longer than writing a small checkpoint.
  // No work may be queued on it.
  void GiveBackStaging(std::unique_ptr<TransferStaging> staging);

  // These implement DeviceMemory.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, const std::string& what) override;
  void Free(uint64_t address) override;
  absl::Status Upload(uint64_t address, const void* from, uint64_t bytes) override;
  absl::Status Download(absl::Span<const Region> regions) override;
  absl::StatusOr<std::unique_ptr<Snapshot>> TakeSnapshot(absl::Span<const Region> regions) override;

 private:
  CudaDevice(const DriverApi* driver, int ordinal);
  absl::Status Init();
  absl::StatusOr<TransferStaging*> GetStaging();

  const DriverApi* driver_;
  const int ordinal_;
  const std::string name_;
  const uint64_t id_;  // number of this object, with which threads remember whose context is current
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::string model_;
  int compute_capability_ = 0;
  std::atomic<bool> lost_{false};
  std::unique_ptr<BuiltinKernels> kernels_;
  std::mutex staging_mutex_;
  std::unique_ptr<TransferStaging> staging_;
  std::mutex spare_mutex_;
  std::unique_ptr<TransferStaging> spare_staging_;  // for the next snapshot, as only one is read at a time
};

// Owners of objects of a context. All are movable, and empty when made by the default constructor.
template <typename Handle>
class CudaOwned {
 public:
  CudaOwned() = default;
  CudaOwned(std::shared_ptr<CudaDevice> device, Handle handle) : device_(std::move(device)), handle_(handle) {}
  CudaOwned(CudaOwned&& other) noexcept { *this = std::move(other); }
  CudaOwned& operator=(CudaOwned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CudaOwned() {
    if (handle_ != Handle() && MakeCurrent()) Destroy();
  }
  Handle get() const { return handle_; }
  CudaDevice& device() const { return *device_; }  // must not be called on an empty owner
  // Makes the context current. Returns false if the device is lost or this fails; the handle must not be used then.
  bool MakeCurrent() const { return !device_->lost() && device_->MakeCurrent().ok(); }

 private:
  void Destroy();  // its errors are reported by the next call of the driver

  std::shared_ptr<CudaDevice> device_;
  Handle handle_ = Handle();
};

template <>
void CudaOwned<CUstream>::Destroy();
template <>
void CudaOwned<CUevent>::Destroy();
template <>
void CudaOwned<CUmodule>::Destroy();
template <>
void CudaOwned<CUgraphExec>::Destroy();
template <>
void CudaOwned<CUdeviceptr>::Destroy();
template <>
void CudaOwned<void*>::Destroy();

using CudaStream = CudaOwned<CUstream>;
using CudaEvent = CudaOwned<CUevent>;
using CudaModule = CudaOwned<CUmodule>;
using CudaGraphExec = CudaOwned<CUgraphExec>;
using CudaMemory = CudaOwned<CUdeviceptr>;
using PinnedMemory = CudaOwned<void*>;

absl::StatusOr<CudaStream> MakeStream(const std::shared_ptr<CudaDevice>& device);
absl::StatusOr<CudaEvent> MakeEvent(const std::shared_ptr<CudaDevice>& device, bool timing = false);
// Allocates zeroed pinned memory.
absl::StatusOr<PinnedMemory> MakePinned(const std::shared_ptr<CudaDevice>& device, uint64_t bytes);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DEVICE_CUDA_DEVICE_H_
