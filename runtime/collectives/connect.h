// Connects the processes of a group by the fastest way that they all have.
#ifndef TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_
#define TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collectives/connect_options.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// All ranks call it with the same communication, size and prefix, before or after each other. Errors as ConnectGloo's
// and ConnectSharedMemory's.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectProcessGroup(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_
