// Process groups over TCP, with Gloo.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collectives/connect_options.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

// Fork before, not after: this starts threads. InvalidArgument: nobody can listen there. Unavailable, or the store's
// error: not all ranks came within the deadline.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectGloo(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_GROUP_H_
