// HOST:PORT, the address of a process.
#ifndef TANDEM_CLUSTER_ADDRESS_H_
#define TANDEM_CLUSTER_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Why `text` is not HOST:PORT, with a name, an IPv4 address or an IPv6 address in brackets and a port from 1 to 65535;
// empty when it is. Names are not looked up.
std::string WhyNoAddress(absl::string_view text);

// Its parts, an IPv6 address without its brackets. Neither where there is no colon.
struct HostPort {
  std::string host, port;
};
HostPort SplitAddress(absl::string_view text);

// Whether a host is an IPv4 or IPv6 address, without an interface (%eth0), and not a name.
bool IsIpAddress(const std::string& host);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_ADDRESS_H_
