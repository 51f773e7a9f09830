// Memory of a device other than the host: where the variables of a GPU job live.
#ifndef TANDEM_RUNTIME_DEVICE_MEMORY_H_
#define TANDEM_RUNTIME_DEVICE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tandem {

// Thread-safe. Addresses are the device's. Errors: ResourceExhausted for memory, Unavailable when the device was lost.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // "gpu:0".
  virtual const std::string& name() const = 0;
  // `what` names the use in the message of an error.
  virtual absl::StatusOr<uint64_t> Allocate(uint64_t bytes, const std::string& what) = 0;
  virtual void Free(uint64_t address) = 0;
  // Returns when the bytes are on the device.
  virtual absl::Status Upload(uint64_t address, const void* from, uint64_t bytes) = 0;

  struct Region {
    uint64_t address = 0;
    void* to = nullptr;
    uint64_t bytes = 0;
  };
  // Reads all regions; copies from the device overlap with those in host memory.
  virtual absl::Status Download(absl::Span<const Region> regions) = 0;

  // The regions' bytes at one moment, kept on the device until they are read.
  class Snapshot {
   public:
    virtual ~Snapshot() = default;
    // Reads all regions. From any thread, while the device does other work.
    virtual absl::Status Read() = 0;
  };
  // When it returns, whatever is begun from now on may overwrite the regions; nothing may write to them meanwhile. Null
  // where there is no memory to spare for a copy.
  virtual absl::StatusOr<std::unique_ptr<Snapshot>> TakeSnapshot(absl::Span<const Region> regions) = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_DEVICE_MEMORY_H_
