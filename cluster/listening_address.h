// Whether a server can listen at an address. gRPC says only that it cannot.
#ifndef TANDEM_CLUSTER_LISTENING_ADDRESS_H_
#define TANDEM_CLUSTER_LISTENING_ADDRESS_H_

#include <netdb.h>

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// A cluster's DNS learns the name of a machine that has just come late, and for some seconds knows the address of its
// predecessor. So long a name is looked up again.
inline constexpr double kNameSeconds = 60;

// Why a server cannot listen at `address`, HOST:PORT (cluster/address.h): "address in use"; empty when it can. A HOST
// that is a name, and has no address or that of another machine, is looked up again for `name_seconds`; the log tells
// so, with `who`, "rank 0". `look_up`: getaddrinfo.
std::string WhyCannotListen(absl::string_view who, absl::string_view address, double name_seconds = kNameSeconds,
                            decltype(&getaddrinfo) look_up = &getaddrinfo);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_LISTENING_ADDRESS_H_
