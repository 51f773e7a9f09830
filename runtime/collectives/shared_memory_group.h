// Connects the processes of a group through shared memory, if they are on one host.
#ifndef TANDEM_RUNTIME_COLLECTIVES_SHARED_MEMORY_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_SHARED_MEMORY_GROUP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collectives/connect_options.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// Connects the ranks through shared memory. FailedPrecondition, on all ranks alike: they are not on one host, or cannot
// share memory; another transport may work. Other errors, such as the store's when not all ranks come within the
// deadline, would occur with another transport too.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectSharedMemory(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_SHARED_MEMORY_GROUP_H_
