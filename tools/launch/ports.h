// Finds free ports at which the processes of a group can listen.
#ifndef TANDEM_TOOLS_LAUNCH_PORTS_H_
#define TANDEM_TOOLS_LAUNCH_PORTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

// Returns `count` different ports of 127.0.0.1 that no process is bound to. Another process may bind to a port before
// its task does; then the task reports the error, and another start gets other ports. Unavailable (exit code 74) if
// there are not enough.
absl::StatusOr<std::vector<int>> FreePorts(int64_t count);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_PORTS_H_
