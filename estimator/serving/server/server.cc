#include "estimator/serving/server/server.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/count_text.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "estimator/serving/server/grpc_server.h"
#include "estimator/serving/server/http_server.h"
#include "estimator/serving/server/metrics.h"
#include "estimator/serving/server/model_manager.h"
#include "estimator/serving/server/rest_api.h"

namespace tandem::serving {
namespace {

std::vector<std::string> NamesOf(const std::vector<ModelOptions>& models) {
  std::vector<std::string> names;
  for (const ModelOptions& model : models) names.push_back(model.name);
  return names;
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(const ServerOptions& options) : options_(options), metrics_(NamesOf(options.models)) {}
  ~Impl() { Stop().IgnoreError(); }

  absl::Status Start(const LoadServable& load) {
    TD_ASSIGN_OR_RETURN(models_, ModelManager::Start(options_, load, &metrics_));
    rest_ = std::make_unique<RestApi>(models_.get(), &metrics_);
    TD_ASSIGN_OR_RETURN(http_, HttpServer::Start(options_.address, options_.http, rest_.get(), &metrics_));
    if (options_.grpc.port < 0) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(grpc_, GrpcServer::Start(options_.address, options_.grpc, models_.get(), &metrics_));
    return absl::OkStatus();
  }

  // The servers go first: they ask the models. What they have begun is answered before the models are unloaded.
  absl::Status Stop() {
    const absl::Duration end = SteadyNow() + options_.stop_timeout;
    int64_t cut = 0;
    if (http_ != nullptr && !stopped_) cut = http_->Stop(options_.stop_timeout);
    if (grpc_ != nullptr) grpc_->Stop(std::max(end - SteadyNow(), absl::ZeroDuration()));
    if (models_ != nullptr) models_->Stop();
    grpc_.reset();
    stopped_ = true;
    if (cut == 0) return absl::OkStatus();
    return absl::AbortedError(absl::StrCat(CountText(cut, "connection"),
                                           " had to be cut: their requests took longer than ",
                                           absl::FormatDuration(options_.stop_timeout)));
  }

  int http_port() const { return http_->port(); }
  int grpc_port() const { return grpc_ == nullptr ? -1 : grpc_->port(); }
  absl::Status Ready() const { return models_->Ready(); }

 private:
  const ServerOptions options_;
  Metrics metrics_;
  std::unique_ptr<ModelManager> models_;
  std::unique_ptr<RestApi> rest_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<GrpcServer> grpc_;
  bool stopped_ = false;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() = default;

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  return Start(options, ExportedModels(options.threads));
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, const LoadServable& load) {
  TD_RETURN_IF_ERROR(CheckServerOptions(options));
  return CatchResourceErrors("starting a server", [&]() -> absl::StatusOr<std::unique_ptr<Server>> {
    auto impl = std::make_unique<Impl>(options);
    TD_RETURN_IF_ERROR(impl->Start(load));
    return std::unique_ptr<Server>(new Server(std::move(impl)));
  });
}

int Server::http_port() const { return impl_->http_port(); }
int Server::grpc_port() const { return impl_->grpc_port(); }

absl::Status Server::WaitUntilReady(absl::Duration timeout) const {
  const absl::Duration end = SteadyNow() + timeout;
  for (;;) {
    const absl::Status ready = impl_->Ready();
    if (ready.ok()) return ready;
    if (SteadyNow() >= end) return absl::DeadlineExceededError(ready.message());
    absl::SleepFor(absl::Milliseconds(5));
  }
}

absl::Status Server::Stop() { return impl_->Stop(); }

}  // namespace tandem::serving
