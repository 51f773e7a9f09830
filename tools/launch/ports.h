// Ports at which the processes of a group can meet.
#ifndef TANDEM_TOOLS_LAUNCH_PORTS_H_
#define TANDEM_TOOLS_LAUNCH_PORTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

// `count` different ports of 127.0.0.1 that nobody is bound to. Somebody else may take one before its task does; then
// the task says so, and another start has other ports. Errors: Unavailable (74) when there are not so many.
absl::StatusOr<std::vector<int>> FreePorts(int64_t count);

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_PORTS_H_
