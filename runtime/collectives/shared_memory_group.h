// Process groups through shared memory, for processes of one host.
#ifndef TANDEM_RUNTIME_COLLECTIVES_SHARED_MEMORY_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_SHARED_MEMORY_GROUP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

class KeyValueStore;

struct SharedMemoryOptions {
  int rank = 0;
  int size = 1;
  KeyValueStore* store = nullptr;  // used while connecting only
  std::string prefix;              // of all keys; another one for each start
  absl::Duration deadline = absl::Seconds(60);
};

// FailedPrecondition, on all ranks alike: they are not on one host, or cannot share memory; another transport may do.
// Other errors, such as of the store when not all ranks come within the deadline, would meet that one too.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectSharedMemory(const SharedMemoryOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_SHARED_MEMORY_GROUP_H_
