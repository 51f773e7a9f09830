#include "runtime/collectives/gloo_connection.h"

#include <gloo/transport/tcp/device.h>

#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/collectives/connect_wait.h"
#include "runtime/collectives/gloo_mesh.h"
#include "runtime/collectives/sigpipe_block.h"

namespace tandem {
namespace {

// While it lives, threads that this thread starts have the policy SCHED_BATCH: when they wake up, they do not preempt a
// running thread. Otherwise a message would wake Gloo's thread, which would preempt the thread that is inside a send
// and holds the lock that Gloo's thread needs. Gloo's thread would then spin until the scheduler's next tick: 4 ms for
// a message of 40 us, in most calls when there are more threads than cores.
class BatchThreads {
 public:
  BatchThreads() : before_(sched_getscheduler(0)) {
    if (before_ == SCHED_OTHER) Set(SCHED_BATCH);
  }
  ~BatchThreads() {
    if (before_ == SCHED_OTHER) Set(SCHED_OTHER);
  }

 private:
  static void Set(int policy) {
    const sched_param none = {};
    sched_setscheduler(0, policy, &none);
  }
  const int before_;
};

// Returns the first of a name's addresses that belongs to this machine, as digits. The check is needed because Gloo
// reads memory at random when a name has no address.
absl::StatusOr<std::string> LocalAddress(const std::string& name) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* addresses = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &addresses);
  if (error != 0) return absl::InvalidArgumentError(gai_strerror(error));
  std::string found;
  for (const addrinfo* a = addresses; a != nullptr && found.empty(); a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    char digits[NI_MAXHOST];
    if (fd >= 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0 &&
        getnameinfo(a->ai_addr, a->ai_addrlen, digits, sizeof(digits), nullptr, 0, NI_NUMERICHOST) == 0) {
      found = digits;
    }
    if (fd >= 0) close(fd);
  }
  freeaddrinfo(addresses);
  if (found.empty()) return absl::InvalidArgumentError("it is no address of this machine");
  return found;
}

// Returns the device that listens at the options' address or interface.
absl::StatusOr<std::shared_ptr<gloo::transport::Device>> Listen(const ConnectOptions& options) {
  const std::string where = options.address.empty() ? absl::StrCat("interface \"", options.interface, "\"")
                                                    : absl::StrCat("address \"", options.address, "\"");
  std::string reason = "neither an address nor an interface is given";
  gloo::transport::tcp::attr attr;
  attr.iface = options.interface;
  if (!options.address.empty()) {
    attr.iface.clear();
    absl::StatusOr<std::string> address = LocalAddress(options.address);
    reason = std::string(address.status().message());
    if (address.ok()) attr.hostname = *address;
  } else if (!attr.iface.empty() && if_nametoindex(attr.iface.c_str()) == 0) {
    // The interface is looked up here, because Gloo would report the error but leak its list of interfaces.
    attr.iface.clear();
    reason = "there is no such interface";
  }
  if (!attr.hostname.empty() || !attr.iface.empty()) {
    try {
      BatchThreads policy;
      return gloo::transport::tcp::CreateDevice(attr);
    } catch (const std::exception& e) {
      reason = e.what();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("rank ", options.rank, " cannot listen at ", where, ": ", reason));
}

}  // namespace

absl::StatusOr<std::shared_ptr<gloo::Context>> ConnectGlooContext(const ConnectOptions& options) {
  SigpipeBlock block;  // the device's thread inherits the blocked SIGPIPE
  TD_ASSIGN_OR_RETURN(std::shared_ptr<gloo::transport::Device> device, Listen(options));
  ConnectWait wait(options);
  try {
    auto context = std::make_shared<GlooMesh>(options);
    TD_RETURN_IF_ERROR(context->Connect(std::move(device), wait));
    return std::shared_ptr<gloo::Context>(std::move(context));
  } catch (const std::exception& e) {
    return absl::UnavailableError(
        absl::StrCat("rank ", options.rank, " of ", options.size, " cannot connect to all others: ", e.what()));
  }
}

}  // namespace tandem
