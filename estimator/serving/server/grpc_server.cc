#include "estimator/serving/server/grpc_server.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "estimator/serving/server/infer_tensors.h"
#include "estimator/serving/server/inference.grpc.pb.h"

namespace tandem::serving {
namespace {

constexpr int kMaxStreams = 1024;  // calls of a connection at once
constexpr int kIdleMs = 3600 * 1000;

// Their codes have the same numbers.
grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), Printable(status.message()));
}

absl::StatusOr<std::optional<int64_t>> VersionOf(const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  int64_t version = 0;
  if (absl::SimpleAtoi(text, &version) && version >= 0) return std::optional<int64_t>(version);
  return absl::InvalidArgumentError(
      absl::StrCat("\"", PrintableLine(text), "\" is no version of a model; versions are numbers"));
}

void AddTensors(const std::vector<TensorSignature>& tensors,
                google::protobuf::RepeatedPtrField<inference::ModelMetadataResponse::TensorMetadata>* metadata) {
  for (const TensorSignature& tensor : tensors) {
    auto* added = metadata->Add();
    added->set_name(tensor.name);
    added->set_datatype(InferName(tensor.dtype));
    for (const int64_t size : tensor.shape) added->add_shape(size);
  }
}

// A call for predictions. It is finished once, by Finish, and deletes itself then.
class InferCall : public grpc::ServerUnaryReactor {
 public:
  InferCall(const inference::ModelInferRequest* request, inference::ModelInferResponse* response)
      : request_(request), response_(response) {}

  void Start(const ModelManager& models, Metrics* metrics) {
    const absl::StatusOr<const ServedModel*> model = models.Find(request_->model_name());
    if (!model.ok()) return Finish(ToGrpc(model.status()));
    metrics_ = metrics->ForModel(request_->model_name());
    const absl::Status added = CatchResourceErrors("a request for predictions", [&]() -> absl::Status {
      TD_ASSIGN_OR_RETURN(const std::optional<int64_t> version, VersionOf(request_->model_version()));
      return (*model)->Use(version, [this](ServedVersion& v) { return AddTo(v); });
    });
    if (!added.ok()) Answer(added);
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override { delete this; }

 private:
  absl::Status AddTo(ServedVersion& version) {
    TD_ASSIGN_OR_RETURN(InferInputs read, ReadInputs(*request_, version.servable().inputs()));
    TD_RETURN_IF_ERROR(CheckOutputs(*request_, version.servable().outputs()));
    response_->set_model_version(absl::StrCat(version.number()));
    PredictRequest request{.inputs = std::move(read.inputs), .rows = read.rows, .cancelled = cancelled_};
    request.done = [this](absl::StatusOr<Prediction> result) { Answer(std::move(result)); };
    return version.Add(&request);
  }

  void Answer(absl::StatusOr<Prediction> result) {
    if (result.ok()) {
      response_->set_model_name(request_->model_name());
      response_->set_id(request_->id());
      WriteOutputs(*request_, *result, response_);
    }
    metrics_->ObserveRequest(Api::kGrpc, result.status(), SteadyNow() - start_);
    Finish(ToGrpc(result.status()));
  }

  const inference::ModelInferRequest* const request_;
  inference::ModelInferResponse* const response_;
  ModelMetrics* metrics_ = nullptr;
  const absl::Duration start_ = SteadyNow();
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
};

class Service : public inference::GRPCInferenceService::CallbackService {
 public:
  Service(const ModelManager* models, Metrics* metrics) : models_(models), metrics_(metrics) {}

  grpc::ServerUnaryReactor* ServerLive(grpc::CallbackServerContext* context, const inference::ServerLiveRequest*,
                                       inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return Done(context, absl::OkStatus());
  }

  grpc::ServerUnaryReactor* ServerReady(grpc::CallbackServerContext* context, const inference::ServerReadyRequest*,
                                        inference::ServerReadyResponse* response) override {
    response->set_ready(models_->Ready().ok());
    return Done(context, absl::OkStatus());
  }

  grpc::ServerUnaryReactor* ModelReady(grpc::CallbackServerContext* context,
                                       const inference::ModelReadyRequest* request,
                                       inference::ModelReadyResponse* response) override {
    const absl::Status found = Find(request->name(), request->version()).status();
    response->set_ready(found.ok());
    return Done(context, absl::IsUnavailable(found) ? absl::OkStatus() : found);
  }

  grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* context,
                                           const inference::ServerMetadataRequest*,
                                           inference::ServerMetadataResponse* response) override {
    response->set_name("tandem-serve");
    return Done(context, absl::OkStatus());
  }

  grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context,
                                          const inference::ModelMetadataRequest* request,
                                          inference::ModelMetadataResponse* response) override {
    return Done(context, DescribeModel(*request, response));
  }

  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext*, const inference::ModelInferRequest* request,
                                       inference::ModelInferResponse* response) override {
    auto* call = new InferCall(request, response);
    call->Start(*models_, metrics_);
    return call;
  }

 private:
  static grpc::ServerUnaryReactor* Done(grpc::CallbackServerContext* context, const absl::Status& status) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(status));
    return reactor;
  }

  absl::StatusOr<std::shared_ptr<ServedVersion>> Find(const std::string& name, const std::string& version) const {
    TD_ASSIGN_OR_RETURN(const ServedModel* model, models_->Find(name));
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> number, VersionOf(version));
    return model->Find(number);
  }

  absl::Status DescribeModel(const inference::ModelMetadataRequest& request,
                             inference::ModelMetadataResponse* response) const {
    TD_ASSIGN_OR_RETURN(const ServedModel* model, models_->Find(request.name()));
    TD_ASSIGN_OR_RETURN(const std::shared_ptr<ServedVersion> version, Find(request.name(), request.version()));
    response->set_name(request.name());
    response->set_platform("tandem");
    for (const VersionStatus& status : model->Versions()) {
      if (status.state == VersionState::kAvailable) response->add_versions(absl::StrCat(status.number));
    }
    AddTensors(version->servable().inputs(), response->mutable_inputs());
    AddTensors(version->servable().outputs(), response->mutable_outputs());
    return absl::OkStatus();
  }

  const ModelManager* const models_;
  Metrics* const metrics_;
};

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const ModelManager* models, Metrics* metrics) : service_(std::make_unique<Service>(models, metrics)) {}
  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Listen(const std::string& address, const GrpcOptions& options) {
    const bool six = absl::StrContains(address, ":");
    const std::string place = absl::StrCat(six ? "[" : "", address, six ? "]" : "", ":", options.port);
    grpc::ServerBuilder builder;
    // Two servers at one port would each get a part of the requests.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
    builder.SetMaxSendMessageSize(-1);
    builder.AddListeningPort(place, grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    if (server_ != nullptr && port_ > 0) return absl::OkStatus();
    server_ = nullptr;
    return absl::UnavailableError(absl::StrCat("cannot listen for gRPC at ", place, "; the address may be taken"));
  }

  int port() const { return port_; }

  void Stop(absl::Duration timeout) {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(timeout));
    server_->Wait();
    server_ = nullptr;
  }

 private:
  const std::unique_ptr<grpc::Service> service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() = default;

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& address, const GrpcOptions& options,
                                                              const ModelManager* models, Metrics* metrics) {
  auto impl = std::make_unique<Impl>(models, metrics);
  TD_RETURN_IF_ERROR(impl->Listen(address, options));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

int GrpcServer::port() const { return impl_->port(); }

void GrpcServer::Stop(absl::Duration timeout) { impl_->Stop(timeout); }

}  // namespace tandem::serving
