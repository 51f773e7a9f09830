// Server: serves exported models over HTTP and, where it is asked for, gRPC (docs/guide/serving.md).
//
//   ServerOptions options;
//   options.models = {{.name = "digits", .directory = "model_dir/export/latest"}};
//   TD_ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Start(options));
//   ...
//   TD_RETURN_IF_ERROR(server->Stop());
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_SERVER_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_SERVER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/servable.h"

namespace tandem::serving {

class Server {
 public:
  // Listens, and begins to load the models; requests for one that is not loaded yet are answered with 503.
  // InvalidArgument for options that make no server; Unavailable if an address is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  // The same with another way to load versions. For tests.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options, const LoadServable& load);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int http_port() const;
  int grpc_port() const;  // -1 without gRPC
  // Waits until every model has a version that serves. DeadlineExceeded, with the reason of one that has none.
  absl::Status WaitUntilReady(absl::Duration timeout) const;
  // Refuses new requests, answers those that are being computed, and unloads the models. Aborted if some took longer
  // than ServerOptions.stop_timeout, and were cut.
  absl::Status Stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_SERVER_H_
