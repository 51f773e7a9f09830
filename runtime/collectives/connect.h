// Connects the processes of a group by the fastest transport that all of them can use.
#ifndef TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_
#define TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collectives/connect_options.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// Connects the ranks. All ranks call it with the same communication, size and prefix, each at any time. Errors are
// those of ConnectGloo and ConnectSharedMemory.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectProcessGroup(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_
