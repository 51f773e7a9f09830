// HOST:PORT: the address of a process.
#ifndef TANDEM_CLUSTER_ADDRESS_H_
#define TANDEM_CLUSTER_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

// Returns why `text` is not HOST:PORT, with a name, an IPv4 address or an IPv6 address in brackets as HOST, and a port
// from 1 to 65535; "" if it is. Names are not looked up.
std::string WhyNoAddress(absl::string_view text);

// The parts of an address, an IPv6 address without its brackets. Both are empty if there is no colon.
struct HostPort {
  std::string host, port;
};
HostPort SplitAddress(absl::string_view text);

// True if `host` is an IPv4 or IPv6 address without an interface (%eth0), and not a name.
bool IsIpAddress(const std::string& host);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_ADDRESS_H_
