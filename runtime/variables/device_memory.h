// Memory of a device other than the host, in which the variables of a GPU job are.
#ifndef TANDEM_RUNTIME_VARIABLES_DEVICE_MEMORY_H_
#define TANDEM_RUNTIME_VARIABLES_DEVICE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tandem {

// Thread-safe. Addresses are the device's. Errors: ResourceExhausted when memory runs out, Unavailable when the device
// was lost.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // The device's name, such as "gpu:0".
  virtual const std::string& name() const = 0;
  // Allocates `bytes` on the device; `what` names the use in the message of an error.
  virtual absl::StatusOr<uint64_t> Allocate(uint64_t bytes, const std::string& what) = 0;
  virtual void Free(uint64_t address) = 0;
  // Copies `bytes` from host memory; returns when they are on the device.
  virtual absl::Status Upload(uint64_t address, const void* from, uint64_t bytes) = 0;

  struct Region {
    uint64_t address = 0;
    void* to = nullptr;
    uint64_t bytes = 0;
  };
  // Copies all regions to host memory; the transfers from the device overlap with the copies inside host memory.
  virtual absl::Status Download(absl::Span<const Region> regions) = 0;

  // The regions' bytes at one moment, kept on the device until they are read.
  class Snapshot {
   public:
    virtual ~Snapshot() = default;
    // Copies all regions to host memory. May be called from any thread, while the device does other work.
    virtual absl::Status Read() = 0;
  };
  // Copies the regions' bytes as they are now. Work that begins after it returns may overwrite the regions; nothing may
  // write to them while it runs. Returns null if there is no memory to spare for a copy.
  virtual absl::StatusOr<std::unique_ptr<Snapshot>> TakeSnapshot(absl::Span<const Region> regions) = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_VARIABLES_DEVICE_MEMORY_H_
