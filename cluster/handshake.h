// What keeps two processes apart whose connection does not come about: gRPC tells only that it does not. To find out,
// one of them shakes hands once more, by itself.
#ifndef TANDEM_CLUSTER_HANDSHAKE_H_
#define TANDEM_CLUSTER_HANDSHAKE_H_

#include <string>

#include "cluster/tls_material.h"

namespace tandem {

// What TLS has against a connection to `address`, HOST:PORT, and what to do: "it does not speak TLS, and this process
// does; ...". Empty where that is nothing, or where nobody answers within `seconds`, who could tell. `own`: what this
// process has; null where it has no TLS.
std::string WhyNoHandshake(const std::string& address, const TlsMaterial* own, double seconds = 2);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_HANDSHAKE_H_
