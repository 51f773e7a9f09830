// Finds ports at which the processes of a group can meet.
#ifndef TANDEM_TOOLS_LAUNCH_PORTS_H_
#define TANDEM_TOOLS_LAUNCH_PORTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

// Returns `count` different ports of 127.0.0.1 that no process is bound to. Another process may take one before its
// task does; then the task reports it, and another start gets other ports. Errors: Unavailable (74) if there are not
// enough.
absl::StatusOr<std::vector<int>> FreePorts(int64_t count);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_PORTS_H_
