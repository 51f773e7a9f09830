// GrpcServer: the Open Inference Protocol over gRPC (inference.proto).
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_GRPC_SERVER_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_GRPC_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/model_manager.h"
#include "estimator/serving/server/options.h"

namespace tandem::serving {

class GrpcServer {
 public:
  // Listens at `address`. `models` and `metrics` must live longer. Unavailable if that fails.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const std::string& address, const GrpcOptions& options,
                                                           const ModelManager* models, Metrics* metrics);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  int port() const;
  // Refuses new calls, and waits until those that were begun are answered, or until `timeout` is over; those that are
  // left are cancelled.
  void Stop(absl::Duration timeout);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_GRPC_SERVER_H_
