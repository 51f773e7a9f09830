// What kernel launches and library calls read and write, for whoever watches. Nobody does on a real GPU; the fake of
// the driver finds races and accesses to freed memory by it.
#ifndef TANDEM_RUNTIME_CUDA_ACCESS_WATCH_H_
#define TANDEM_RUNTIME_CUDA_ACCESS_WATCH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/cuda/cuda_types.h"

namespace tandem {

// Memory that is read or written.
struct DeviceAccess {
  CUdeviceptr address = 0;
  uint64_t bytes = 0;
  bool write = false;
};

// Gets what each declaration says; null: nobody watches. To be set while nothing is enqueued.
using AccessWatcher = void (*)(absl::Span<const DeviceAccess>);
void SetAccessWatcher(AccessWatcher watcher);

bool AccessesAreWatched();
// What the next kernel launch or library call of this thread touches.
void DeclareAccesses(absl::Span<const DeviceAccess> accesses);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_ACCESS_WATCH_H_
