// Connects the processes of a group over TCP, with Gloo.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collectives/connect_options.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// Starts threads: a process may fork before this call, not after. InvalidArgument: it is impossible to listen at the
// address. Unavailable, or the store's error: not all ranks came within the deadline.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectGloo(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_
