#include "tools/launch/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <set>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/posix_error.h"

namespace tandem {
namespace {

// The ports are below 32768, where the range begins that the system uses for outgoing connections. A worker may try
// again and again to connect to a task that does not listen yet. If the task's port were in that range, the system
// could use it for the worker's own end, which would connect the worker to itself. Connections of other programs could
// also occupy it.
constexpr int kFirst = 10000, kLast = 29999;

absl::StatusOr<bool> IsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return PosixError(errno, "open", "a socket");
  absl::Cleanup close_it = [&] { close(fd); };
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
  if (errno == EADDRINUSE || errno == EACCES) return false;
  return PosixError(errno, "bind", absl::StrCat("127.0.0.1:", port));
}

}  // namespace

absl::StatusOr<std::vector<int>> FreePorts(int64_t count) {
  std::random_device random;
  std::uniform_int_distribution<int> distribution(kFirst, kLast);
  std::set<int> tried;
  std::vector<int> ports;
  constexpr int64_t kTriesPerPort = 16;
  for (int64_t tries = 0; static_cast<int64_t>(ports.size()) < count && tries < (count + 8) * kTriesPerPort; ++tries) {
    const int port = distribution(random);
    if (!tried.insert(port).second) continue;
    absl::StatusOr<bool> free = IsFree(port);
    if (!free.ok()) return free.status();
    if (*free) ports.push_back(port);
  }
  if (static_cast<int64_t>(ports.size()) < count) {
    return WithExitCode(absl::UnavailableError(absl::StrCat("127.0.0.1 has no ", count, " free ports from ", kFirst,
                                                            " to ", kLast, "; end programs that hold them")),
                        kExitIo);
  }
  return ports;
}

}  // namespace tandem
