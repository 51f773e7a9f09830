#include "cluster/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_'; }

bool IsIpv6(absl::string_view host) {
  host = host.substr(0, host.find('%'));  // removes the interface from an address such as fe80::1%eth0
  in6_addr address;
  return inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1;
}

}  // namespace

std::string WhyNoAddress(absl::string_view text) {
  if (absl::StrContains(text, "://")) return "an address has no scheme: HOST:PORT";
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return "it has no port: HOST:PORT";
  absl::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  int64_t number = 0;
  const bool digits = !port.empty() && std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return "its port is no number from 1 to 65535";
  }
  if (host.empty()) return "it has no host: HOST:PORT";
  if (host.front() == '[' || host.back() == ']') {
    const bool both = host.size() > 2 && host.front() == '[' && host.back() == ']';
    return both && IsIpv6(host.substr(1, host.size() - 2)) ? "" : "what is in brackets is no IPv6 address";
  }
  if (absl::StrContains(host, ":")) return "an IPv6 address stands in brackets: [HOST]:PORT";
  return std::all_of(host.begin(), host.end(), IsNameCharacter) ? "" : "its host has a character that no name has";
}

HostPort SplitAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return {};
  absl::string_view host = text.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return {std::string(host), std::string(text.substr(colon + 1))};
}

bool IsIpAddress(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace tandem
