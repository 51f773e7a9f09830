// Copies between a device and pageable memory of the host, through pinned memory.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_TRANSFER_STAGING_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_TRANSFER_STAGING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/variables/device_memory.h"

namespace tandem {

// A staging has a stream of its own, and pinned memory in two halves, so that the device copies one half while the host
// copies the other. Thread-compatible. The context in which it was made must be current in all calls and when it is
// destroyed.
class TransferStaging {
 public:
  // `driver` must outlive the object.
  static absl::StatusOr<std::unique_ptr<TransferStaging>> Create(const DriverApi* driver);
  // Waits for the copies that are queued.
  ~TransferStaging();
  // To be called after the device was lost: nothing that belongs to its context is freed then.
  void Forget();

  // Copy to or from the device, and return when everything has been copied. After an error nothing is written to the
  // destinations any more.
  absl::Status Upload(uint64_t address, const void* from, uint64_t bytes);
  absl::Status Download(absl::Span<const DeviceMemory::Region> regions);

  CUstream stream() const { return stream_; }

 private:
  static constexpr uint64_t kHalf = uint64_t{4} << 20;

  struct Read {
    const uint8_t* from;
    uint8_t* to;
    uint64_t bytes;
  };
  struct Half {
    void* memory = nullptr;
    CUevent event = nullptr;
    bool busy = false;
    std::vector<Read> reads;  // copies on the host that follow when the event has happened
  };

  explicit TransferStaging(const DriverApi* driver) : driver_(*driver) {}
  absl::Status Init();
  absl::Status QueueUpload(uint64_t address, const uint8_t* from, uint64_t bytes);
  absl::Status QueueDownload(absl::Span<const DeviceMemory::Region> regions);
  absl::StatusOr<Half*> NextHalf();
  absl::Status End(Half& half);
  absl::Status Finish(Half& half);
  absl::Status Flush();
  void Abandon();

  const DriverApi& driver_;
  CUstream stream_ = nullptr;
  Half halves_[2];
  int next_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_TRANSFER_STAGING_H_
