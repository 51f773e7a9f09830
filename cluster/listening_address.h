// Checks if a server can listen at an address, since gRPC does not say why it cannot.
#ifndef TANDEM_CLUSTER_LISTENING_ADDRESS_H_
#define TANDEM_CLUSTER_LISTENING_ADDRESS_H_

#include <netdb.h>

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Seconds for which a name is looked up again. A cluster's DNS is slow to learn of a machine that has just started, and
// for some seconds it may return the address of that machine's predecessor.
inline constexpr double kNameSeconds = 60;

// Returns why a server cannot listen at `address`, HOST:PORT (cluster/address.h): "address in use"; "" if it can. If
// HOST is a name that has no address, or that of another machine, it is looked up again for `name_seconds`; the log
// says so, with `who`, "rank 0". `look_up` is getaddrinfo.
std::string WhyCannotListen(absl::string_view who, absl::string_view address, double name_seconds = kNameSeconds,
                            decltype(&getaddrinfo) look_up = &getaddrinfo);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_LISTENING_ADDRESS_H_
