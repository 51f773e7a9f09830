// Credentials: makes all gRPC channels and servers of a cluster, with plain text or with TLS.
#ifndef TANDEM_CLUSTER_CREDENTIALS_H_
#define TANDEM_CLUSTER_CREDENTIALS_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cluster/tls_files.h"
#include "cluster/tls_material.h"

namespace grpc {
class Channel;
class ChannelArguments;
class ServerCredentials;
}  // namespace grpc

namespace tandem {

class Credentials {
 public:
  // Makes plain-text connections.
  Credentials() = default;
  // Makes TLS connections if `files` are given. Each side shows its certificate and verifies the other's. Errors: those
  // of ReadTlsFiles.
  static absl::StatusOr<Credentials> Make(const std::optional<TlsFiles>& files);

  // `target` is a name in the syntax of gRPC. Unix sockets do not leave the machine, so they use plain text.
  std::shared_ptr<grpc::Channel> Dial(const std::string& target, grpc::ChannelArguments arguments) const;
  std::shared_ptr<grpc::ServerCredentials> Listening(const std::string& target) const;

  // Null for plain text.
  const TlsMaterial* tls() const { return tls_.get(); }

 private:
  std::shared_ptr<const TlsMaterial> tls_;
};

// Watches repeated attempts to connect to a process. If TLS prevents the connection, it ends them early and says why.
class DialWatch {
 public:
  // `who` is the process to connect to, and `address` its HOST:PORT, empty if the connection uses no network. For
  // `seconds`, attempts continue although TLS prevents the connection: the host's name may lead to another machine for
  // a while.
  DialWatch(const Credentials& credentials, std::string who, std::string address, double seconds);
  // To be called after an attempt has failed. FailedPrecondition (exit code 2) if it is time to give up.
  absl::Status Failed();

 private:
  using Clock = std::chrono::steady_clock;
  const Credentials credentials_;
  const std::string who_, address_;
  const std::chrono::duration<double> patience_;
  Clock::time_point next_look_ = Clock::time_point::min();
  std::optional<Clock::time_point> apart_since_;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_CREDENTIALS_H_
