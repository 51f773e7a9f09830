// Credentials: how the processes of a cluster are connected over gRPC, as plain text or by TLS. All channels and
// servers of a cluster are made here.
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
  // Plain text.
  Credentials() = default;
  // TLS where there are files. Each side shows its certificate and verifies the other's. Errors: ReadTlsFiles's.
  static absl::StatusOr<Credentials> Make(const std::optional<TlsFiles>& files);

  // Of `target`, as gRPC names it. What goes through a socket's file does not leave the machine and is plain text.
  std::shared_ptr<grpc::Channel> Dial(const std::string& target, grpc::ChannelArguments arguments) const;
  std::shared_ptr<grpc::ServerCredentials> Listening(const std::string& target) const;

  // Null for plain text.
  const TlsMaterial* tls() const { return tls_.get(); }

 private:
  std::shared_ptr<const TlsMaterial> tls_;
};

// Looks on while a process is dialled again and again: ends that early where TLS keeps the two apart, and says why.
class DialWatch {
 public:
  // `who`, at `address`, HOST:PORT, is dialled; TLS may keep them apart for so many seconds, as names may lead to
  // another machine for a while. Empty address: there is no network between them.
  DialWatch(const Credentials& credentials, std::string who, std::string address, double seconds);
  // An attempt has failed. FailedPrecondition (exit code 2) when it is time to give up.
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
