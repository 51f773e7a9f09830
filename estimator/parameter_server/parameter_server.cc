#include "estimator/parameter_server/parameter_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "cluster/credentials.h"
#include "cluster/listening_address.h"
#include "cluster/wire.h"
#include "estimator/parameter_server/protocol.h"
#include "estimator/parameter_server/server_state.h"

namespace tandem {
namespace {

// A worker's connection: reads a request, has it answered, and reads the next one. Callbacks are noexcept, so that an
// exception ends the process: gRPC would swallow it, and the worker would wait for an answer for ever.
class Conversation : public grpc::ServerGenericBidiReactor {
 public:
  explicit Conversation(ServerState* state) : state_(state) {
    id_ = state_->Connect([this](grpc::ByteBuffer answer) { Send(std::move(answer)); });
    StartRead(&request_);
  }

  void OnReadDone(bool ok) noexcept override {
    if (!ok) return End(grpc::Status::OK);
    state_->Handle(id_, request_);
  }
  void OnWriteDone(bool ok) noexcept override {
    if (!ok) return End(grpc::Status::OK);
    StartRead(&request_);
  }
  void OnCancel() noexcept override { End(grpc::Status::CANCELLED); }
  void OnDone() noexcept override { delete this; }

 private:
  void Send(grpc::ByteBuffer answer) {
    answer_ = std::move(answer);
    std::lock_guard lock(mutex_);
    if (!ended_) StartWrite(&answer_);
  }

  void End(const grpc::Status& status) {
    state_->Disconnect(id_);  // Send is not called after this
    std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
    Finish(status);
  }

  ServerState* const state_;
  int64_t id_ = 0;
  grpc::ByteBuffer request_, answer_;
  std::mutex mutex_;
  bool ended_ = false;
};

class Refusal : public grpc::ServerGenericBidiReactor {
 public:
  Refusal() { Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no such call")); }
  void OnDone() noexcept override { delete this; }
};

class GrpcParameterServer : public ParameterServer, public grpc::CallbackGenericService {
 public:
  explicit GrpcParameterServer(std::unique_ptr<ServerState> state) : state_(std::move(state)) {}
  ~GrpcParameterServer() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
    server_->Wait();
  }

  absl::Status Listen(const std::string& address, double deadline_seconds, const std::optional<TlsFiles>& tls) {
    TD_ASSIGN_OR_RETURN(const Credentials credentials, Credentials::Make(tls));
    if (const std::string why = WhyCannotListen("the parameter server", address); !why.empty()) {
      return CannotListen(address, why);
    }
    LogMessagesOfGrpc();
    grpc::ServerBuilder builder;
    SetServerArguments(deadline_seconds, &builder);
    builder.SetMaxReceiveMessageSize(-1);
    builder.SetMaxSendMessageSize(-1);
    builder.RegisterCallbackGenericService(this);
    int port = 0;
    builder.AddListeningPort(address, credentials.Listening(address), &port);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr && port != 0) return absl::OkStatus();
    server_ = nullptr;
    return CannotListen(address, "address in use");
  }

  ServerState& state() override { return *state_; }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) noexcept override {
    if (context->method() != kParameterCall) return new Refusal;
    return new Conversation(state_.get());
  }

 private:
  static absl::Status CannotListen(absl::string_view address, absl::string_view why) {
    return WithExitCode(absl::FailedPreconditionError(absl::StrCat(
                            "the parameter server cannot listen at ", PrintableLine(address), ": ", why,
                            "; end what is there, or name an address of its machine in TF_CONFIG's cluster.ps")),
                        kExitUsage);
  }

  std::unique_ptr<ServerState> state_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ParameterServer>> ParameterServer::Start(std::unique_ptr<ServerState> state,
                                                                        const std::string& address,
                                                                        double deadline_seconds,
                                                                        const std::optional<TlsFiles>& tls) {
  auto server = std::make_unique<GrpcParameterServer>(std::move(state));
  if (absl::Status status = server->Listen(address, deadline_seconds, tls); !status.ok()) return status;
  return server;
}

}  // namespace tandem
