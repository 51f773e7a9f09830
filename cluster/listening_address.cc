#include "cluster/listening_address.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/printable.h"
#include "cluster/address.h"
#include "cluster/clock.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

struct Attempt {
  std::string why;               // why listening failed; empty if it succeeded
  bool name_may_change = false;  // listening failed because of the address that the name has now
};

// Uses the socket options that gRPC uses.
Attempt TryToListen(const std::string& host, const std::string& port, decltype(&getaddrinfo) look_up) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int error = look_up(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return {absl::StrCat("the host has no address (", gai_strerror(error), ")"), !IsIpAddress(host)};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  int error = 0;
  bool bound = false;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (address->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
    // With SO_REUSEADDR only listen() fails if another process has bound the address and listens.
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, 1) == 0) {
      bound = true;
    } else if (error != EADDRINUSE) {
      error = errno;
    }
    close(fd);
  }
  if (error == EADDRINUSE) return {"address in use"};
  if (bound) return {};
  if (error == EADDRNOTAVAIL) return {"not an address of this machine", !IsIpAddress(host)};
  return {strerror(error)};
}

}  // namespace

std::string WhyCannotListen(absl::string_view who, absl::string_view address, double name_seconds,
                            decltype(&getaddrinfo) look_up) {
  const auto [host, port] = SplitAddress(address);
  const Clock::time_point end = After<Clock>(name_seconds);
  bool told = false;
  while (true) {
    const Attempt attempt = TryToListen(host, port, look_up);
    const Clock::time_point now = Clock::now();
    if (!attempt.name_may_change || now >= end) return attempt.why;
    if (!told) {
      TD_LOG(WARNING) << who << " cannot listen at " << PrintableLine(address) << " yet: " << attempt.why
                      << "; the name is looked up again for " << name_seconds << " s";
      told = true;
    }
    std::this_thread::sleep_until(std::min(end, now + std::chrono::milliseconds(500)));
  }
}

}  // namespace tandem
