#include "runtime/cuda/driver/access_watch.h"

#include <atomic>

namespace tandem {
namespace {

std::atomic<AccessWatcher> access_watcher{nullptr};

}  // namespace

void SetAccessWatcher(AccessWatcher watcher) { access_watcher = watcher; }

bool AccessesAreWatched() { return access_watcher.load(std::memory_order_relaxed) != nullptr; }

void DeclareAccesses(absl::Span<const DeviceAccess> accesses) {
  if (const AccessWatcher watcher = access_watcher; watcher != nullptr) watcher(accesses);
}

}  // namespace tandem
