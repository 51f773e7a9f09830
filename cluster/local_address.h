// The address under which the other hosts of a cluster reach this one.
#ifndef TANDEM_CLUSTER_LOCAL_ADDRESS_H_
#define TANDEM_CLUSTER_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The address of this host ("10.0.0.3") from which packets to `peer`, HOST:PORT, leave. Loopback's for an empty `peer`.
// Sends nothing. Unavailable (exit code 75) when the host has no address or no route.
absl::StatusOr<std::string> LocalAddressTowards(absl::string_view peer);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_LOCAL_ADDRESS_H_
