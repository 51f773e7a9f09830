#include "cluster/local_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cluster/address.h"

namespace tandem {

absl::StatusOr<std::string> LocalAddressTowards(absl::string_view peer) {
  if (peer.empty()) return "127.0.0.1";
  if (!absl::StrContains(peer, ":")) {
    return absl::InvalidArgumentError(absl::StrCat("\"", peer, "\" is no HOST:PORT"));
  }
  const auto [host, port] = SplitAddress(peer);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(absl::StrCat("host \"", host, "\": ", gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::string last = "it has no address";
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    // Connecting a datagram socket only looks up the route.
    const int fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    const auto close_fd = absl::MakeCleanup([fd] { close(fd); });
    sockaddr_storage local = {};
    socklen_t length = sizeof local;
    char name[NI_MAXHOST];
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length) != 0 ||
        getnameinfo(reinterpret_cast<sockaddr*>(&local), length, name, sizeof name, nullptr, 0, NI_NUMERICHOST) != 0) {
      last = std::strerror(errno);
      continue;
    }
    return std::string(name);
  }
  return absl::UnavailableError(absl::StrCat("no route to host \"", host, "\": ", last));
}

}  // namespace tandem
