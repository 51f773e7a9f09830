// ParameterServer: makes a ServerState available to workers over the network.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_PARAMETER_SERVER_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_PARAMETER_SERVER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cluster/tls_files.h"

namespace tandem {

class ServerState;

class ParameterServer {
 public:
  // Listens at `address`, HOST:PORT, with TLS if `tls` has files. FailedPrecondition (exit code 2) if it cannot listen;
  // also errors of ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<ParameterServer>> Start(std::unique_ptr<ServerState> state,
                                                                const std::string& address, double deadline_seconds,
                                                                const std::optional<TlsFiles>& tls = std::nullopt);
  // Ends all connections.
  virtual ~ParameterServer() = default;

  virtual ServerState& state() = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_PARAMETER_SERVER_H_
