// TestServer: a parameter server that gives the answers that a test wants.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_TEST_SERVER_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_TEST_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"
#include "gtest/gtest.h"

namespace tandem::test {

class TestServer : public grpc::CallbackGenericService {
 public:
  using Answer = std::function<parameters::Reply(const parameters::Request&)>;

  // Nothing is read from a connection until `greet`, if it is given, has returned.
  TestServer(const std::string& address, Answer answer, std::function<void()> greet = nullptr)
      : answer_(std::move(answer)), greet_(std::move(greet)) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(-1);
    builder.RegisterCallbackGenericService(this);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    server_ = builder.BuildAndStart();
    EXPECT_NE(server_, nullptr) << address;
  }
  ~TestServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    if (greet_) greet_();
    return new Conversation(answer_);
  }

 private:
  class Conversation : public grpc::ServerGenericBidiReactor {
   public:
    explicit Conversation(Answer answer) : answer_(std::move(answer)) { StartRead(&request_); }

    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      parameters::Request request;
      EXPECT_TRUE(FrameReader().Open(request_, &request).ok());
      reply_ = FrameWithCopies(answer_(request), {});
      StartWrite(&reply_);
    }
    void OnWriteDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      StartRead(&request_);
    }
    void OnDone() override { delete this; }

   private:
    const Answer answer_;
    grpc::ByteBuffer request_, reply_;
  };

  const Answer answer_;
  const std::function<void()> greet_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_TEST_SERVER_H_
