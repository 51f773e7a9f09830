// Declarations of the memory that kernel launches and library calls read and write, for a watcher. With a real GPU
// there is no watcher; the fake driver uses the declarations to find races and accesses to freed memory.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_ACCESS_WATCH_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_ACCESS_WATCH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/cuda/driver/cuda_types.h"

namespace tandem {

// Memory that is read or written.
struct DeviceAccess {
  CUdeviceptr address = 0;
  uint64_t bytes = 0;
  bool write = false;
};

// Receives each declaration. If it is null, there is no watcher. It must be set while no work is enqueued.
using AccessWatcher = void (*)(absl::Span<const DeviceAccess>);
void SetAccessWatcher(AccessWatcher watcher);

bool AccessesAreWatched();
// Declares the memory that this thread's next kernel launch or library call reads and writes.
void DeclareAccesses(absl::Span<const DeviceAccess> accesses);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_ACCESS_WATCH_H_
