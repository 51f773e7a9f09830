// LocalAddressTowards: the address by which other hosts of a cluster reach this one.
#ifndef TANDEM_CLUSTER_LOCAL_ADDRESS_H_
#define TANDEM_CLUSTER_LOCAL_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// Returns the address of this host ("10.0.0.3") from which packets to `peer`, HOST:PORT, are sent. Returns the loopback
// address for an empty `peer`. Sends nothing. Unavailable (exit code 75) if the peer's host has no address or no route.
absl::StatusOr<std::string> LocalAddressTowards(absl::string_view peer);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_LOCAL_ADDRESS_H_
