// Finds out why two processes cannot connect. gRPC says only that they cannot, so this makes one more TLS handshake by
// itself.
#ifndef TANDEM_CLUSTER_HANDSHAKE_H_
#define TANDEM_CLUSTER_HANDSHAKE_H_

#include <string>

#include "cluster/tls_material.h"

namespace tandem {

// Returns why TLS prevents a connection to `address`, HOST:PORT, and what to do: "it does not speak TLS, and this
// process does; ...". Returns "" if TLS does not prevent it, or if nobody answers within `seconds`. `own` is the TLS
// material of this process; null if it does not use TLS.
std::string WhyNoHandshake(const std::string& address, const TlsMaterial* own, double seconds = 2);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_HANDSHAKE_H_
