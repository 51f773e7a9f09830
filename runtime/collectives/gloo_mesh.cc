#include "runtime/collectives/gloo_mesh.h"

#include <gloo/transport/tcp/address.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/threads.h"

namespace tandem {
namespace {

using gloo::transport::tcp::Address;

constexpr std::chrono::milliseconds kPause(200);
// The interval at which the waiting thread checks whether a process is lost while a connection is made.
constexpr std::chrono::milliseconds kLook(100);

std::string Key(int of) { return absl::StrCat("gloo/", of); }

// Returns the system's text for an error of Gloo that may be temporary, such as a machine, network or interface that is
// not there yet; "" for other errors. Gloo's errors are texts that end with the system's text. Whether a process is
// lost for good is for the store to say.
std::string PassingError(absl::string_view error) {
  for (int code : {ECONNREFUSED, ECONNRESET, ECONNABORTED, EHOSTUNREACH, EHOSTDOWN, ENETUNREACH, ENETDOWN, ETIMEDOUT,
                   EADDRNOTAVAIL}) {
    if (absl::EndsWith(error, std::strerror(code))) return std::strerror(code);
  }
  return "";
}

// Returns a text such as "10.0.0.3:4711". Gloo's own text has the bytes of the port in the wrong order.
std::string Text(const Address& address) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int error = getnameinfo(reinterpret_cast<const sockaddr*>(&address.getSockaddr()), sizeof(sockaddr_storage),
                                host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) return "an unknown address";
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

// True if both addresses are on one host. Gloo decides by addresses which of two ranks connects to the other, and by
// ports where the addresses are equal.
bool SameHost(const Address& a, const Address& b) {
  const sockaddr_storage &x = a.getSockaddr(), &y = b.getSockaddr();
  if (x.ss_family != y.ss_family) return false;
  if (x.ss_family == AF_INET6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(x).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(y).sin6_addr, sizeof(in6_addr)) == 0;
  }
  return reinterpret_cast<const sockaddr_in&>(x).sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in&>(y).sin_addr.s_addr;
}

}  // namespace

GlooMesh::GlooMesh(const ConnectOptions& options) : gloo::Context(options.rank, options.size), addresses_(size) {
  setTimeout(std::max(std::chrono::milliseconds(1), absl::ToChronoMilliseconds(options.deadline)));
}

absl::Status GlooMesh::Connect(std::shared_ptr<gloo::transport::Device> device, ConnectWait& wait) {
  device_ = std::move(device);
  transportContext_ = device_->createContext(rank, size);
  // Gloo waits up to five times this long for a pair's connection, unless the pair is closed.
  transportContext_->setTimeout(getTimeout());
  TD_RETURN_IF_ERROR(Publish(wait));
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) TD_RETURN_IF_ERROR(FindPeer(peer, wait));
  }
  TD_ASSIGN_OR_RETURN(std::thread thread, StartThread("connecting to the other ranks", [this] { ConnectPeers(); }));
  absl::StatusOr<bool> in_time = true;
  while (in_time.ok() && *in_time) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (changed_.wait_for(lock, kLook, [&] { return done_; })) break;
    }
    in_time = wait.Continue([&] { return Missing(); });
  }
  const std::string missing = Missing();
  GiveUp();
  thread.join();
  TD_RETURN_IF_ERROR(in_time.status());
  if (*in_time) return status_;
  return absl::UnavailableError(
      absl::StrCat("rank ", rank, " of ", size, " is not connected within ",
                   absl::FormatDuration(wait.options().deadline), ": no connection with ", missing,
                   "; its process must run, and the machines must reach each other at such addresses, at any port"));
}

absl::Status GlooMesh::Publish(ConnectWait& wait) {
  // The addresses of all pairs, concatenated in the order of ranks, without this rank.
  std::string addresses;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    const std::vector<char> address = transportContext_->createPair(peer)->address().bytes();
    addresses.append(address.begin(), address.end());
  }
  return wait.Set(Key(rank), absl::BytesToHexString(addresses));  // hexadecimal, because a value of the store is text
}

absl::Status GlooMesh::FindPeer(int peer, ConnectWait& wait) {
  TD_ASSIGN_OR_RETURN(const std::string text, wait.Get(Key(peer), peer, "where it listens"));
  const std::string all = absl::HexStringToBytes(text);
  const size_t count = size - 1, bytes = getPair(peer)->address().bytes().size();
  if (all.size() != count * bytes) {
    return absl::InternalError(
        absl::StrCat("the store has \"", text, "\" for the ", count, " addresses of rank ", peer, " of ", size));
  }
  const auto begin = all.begin() + (rank < peer ? rank : rank - 1) * bytes;
  addresses_[peer].assign(begin, begin + bytes);
  return absl::OkStatus();
}

void GlooMesh::ConnectPeers() {
  absl::Status status;
  for (int peer = 0; peer < size && status.ok(); ++peer) {
    if (peer == rank) continue;
    try {
      status = ConnectPeer(peer);
    } catch (const std::exception& e) {
      status = Failed(absl::StrCat("rank ", peer), e.what());
    }
  }
  std::lock_guard<std::mutex> lock(mutex_);
  status_ = status;
  done_ = true;
  changed_.notify_all();
}

absl::Status GlooMesh::ConnectPeer(int peer) {
  const Address address(addresses_[peer]);
  const std::string name = absl::StrCat("rank ", peer, " at ", Text(address));
  std::unique_lock<std::mutex> lock(mutex_);
  missing_ = name;
  while (!gives_up_) {
    gloo::transport::Pair* pair = getPair(peer).get();
    // On one host, a refusal means that the other rank is gone, because it listened before it published its address. On
    // different hosts another attempt is possible. It has a new pair with another port, but Gloo still decides by the
    // hosts' addresses that this rank is the one that connects.
    const bool may_be_tried_again = !SameHost(Address(pair->address().bytes()), address);
    connecting_ = peer;
    lock.unlock();
    std::string error;
    try {
      pair->connect(addresses_[peer]);
    } catch (const std::exception& e) {
      error = e.what();
    }
    lock.lock();
    connecting_ = -1;
    if (error.empty() || gives_up_) break;
    const std::string passing = PassingError(error);
    if (!may_be_tried_again || passing.empty()) return Failed(name, passing.empty() ? error : passing);
    missing_ = absl::StrCat(name, " (", passing, ")");
    if (!changed_.wait_for(lock, kPause, [&] { return gives_up_; })) transportContext_->createPair(peer);
  }
  return absl::OkStatus();
}

absl::Status GlooMesh::Failed(absl::string_view peer, absl::string_view why) const {
  return absl::UnavailableError(absl::StrCat("rank ", rank, " of ", size, " cannot connect to ", peer, ": ", why));
}

void GlooMesh::GiveUp() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (done_) return;
  gives_up_ = true;
  changed_.notify_all();
  // Closes only this pair. A connection that the other rank has not accepted yet would be reset, and a reset ends a
  // process in Gloo.
  if (connecting_ >= 0) getPair(connecting_)->close();
}

std::string GlooMesh::Missing() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return missing_;
}

}  // namespace tandem
