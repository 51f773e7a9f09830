#include "estimator/serving/server/grpc_server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "estimator/serving/server/inference.grpc.pb.h"
#include "estimator/serving/server/server.h"
#include "estimator/serving/server/testing_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GrpcServerTest : public testing::Test {
 protected:
  GrpcServerTest()
      : models_(
            absl::StrCat(testing::TempDir(), "/grpc_", testing::UnitTest::GetInstance()->current_test_info()->name())) {
    models_.Export("m", kFirst);
    ServerOptions options = models_.Options({"m", "none"});
    options.grpc.port = 0;
    options.batch.threads = 1;
    server_ = *Server::Start(options, models_.Loader());
    stub_ = inference::GRPCInferenceService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", server_->grpc_port()), grpc::InsecureChannelCredentials()));
    inference::ModelReadyResponse ready;
    for (int i = 0; i < 3000 && !ready.ready(); ++i) {
      grpc::ClientContext context;
      inference::ModelReadyRequest request;
      request.set_name("m");
      EXPECT_TRUE(stub_->ModelReady(&context, request, &ready).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  static inference::ModelInferRequest Request(const std::vector<float>& values, bool raw) {
    inference::ModelInferRequest request;
    request.set_model_name("m");
    request.set_id("7");
    auto* input = request.add_inputs();
    input->set_name("x");
    input->set_datatype("FP32");
    input->add_shape(static_cast<int64_t>(values.size()) / 2);
    input->add_shape(2);
    if (raw) {
      request.add_raw_input_contents(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    } else {
      for (const float value : values) input->mutable_contents()->add_fp32_contents(value);
    }
    return request;
  }

  grpc::Status Infer(const inference::ModelInferRequest& request, inference::ModelInferResponse* response) {
    grpc::ClientContext context;
    return stub_->ModelInfer(&context, request, response);
  }
  std::string ErrorOf(const inference::ModelInferRequest& request, grpc::StatusCode code) {
    inference::ModelInferResponse response;
    const grpc::Status status = Infer(request, &response);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return status.error_message();
  }

  LogCapture log_;
  TestModels models_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
};

TEST_F(GrpcServerTest, Predicts) {
  inference::ModelInferResponse response;
  ASSERT_TRUE(Infer(Request({1, 2, 3, 4}, false), &response).ok());
  EXPECT_EQ(response.id(), "7");
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.model_version(), absl::StrCat(kFirst));
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).name(), "y");
  EXPECT_EQ(response.outputs(0).datatype(), "FP32");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 2));
  EXPECT_THAT(response.outputs(0).contents().fp32_contents(), ElementsAre(1, 2, 3, 4));

  inference::ModelInferResponse raw;
  ASSERT_TRUE(Infer(Request({5, 6}, true), &raw).ok());
  ASSERT_EQ(raw.raw_output_contents_size(), 1);
  const float expected[] = {5, 6};
  EXPECT_EQ(raw.raw_output_contents(0), std::string(reinterpret_cast<const char*>(expected), sizeof expected));
  EXPECT_FALSE(raw.outputs(0).has_contents());
}

TEST_F(GrpcServerTest, SaysWhatIsWrong) {
  inference::ModelInferRequest request = Request({1, 2}, false);
  request.set_model_name("n");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::NOT_FOUND), HasSubstr("there is no model \"n\""));
  request.set_model_name("none");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::UNAVAILABLE), HasSubstr("has no exported model"));
  request = Request({1, 2}, false);
  request.set_model_version("x");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("is no version"));
  request = Request({1, 2}, false);
  request.mutable_inputs(0)->set_name("z");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("has no input \"z\""));
  request = Request({1, 2}, false);
  request.mutable_inputs(0)->set_datatype("FP64");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT),
              HasSubstr("input \"x\": it is FP64[1,2], the model takes FP32[b,2]"));
  request = Request({1, 2}, true);
  request.mutable_inputs(0)->set_shape(0, int64_t{1} << 60);
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("it has 8 bytes"));
  request = Request({1, 2}, false);
  request.mutable_inputs(0)->set_shape(0, -1);
  ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT);
  request = Request({1, 2}, false);
  *request.add_inputs() = request.inputs(0);
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("twice"));
  request = Request({1, 2}, true);
  request.add_raw_input_contents("x");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("2 raw_input_contents"));
  request.clear_raw_input_contents();
  request.clear_inputs();
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("\"x\" is missing"));
  request = Request({1, 2}, false);
  request.add_outputs()->set_name("w");
  EXPECT_THAT(ErrorOf(request, grpc::StatusCode::INVALID_ARGUMENT), HasSubstr("has no output \"w\""));
}

TEST_F(GrpcServerTest, TheServerAndItsModels) {
  grpc::ClientContext live_context, ready_context, metadata_context, none_context, server_context;
  inference::ServerLiveResponse live;
  ASSERT_TRUE(stub_->ServerLive(&live_context, {}, &live).ok());
  EXPECT_TRUE(live.live());
  inference::ServerReadyResponse ready;
  ASSERT_TRUE(stub_->ServerReady(&ready_context, {}, &ready).ok());
  EXPECT_FALSE(ready.ready()) << "one model has no version";
  inference::ServerMetadataResponse server;
  ASSERT_TRUE(stub_->ServerMetadata(&server_context, {}, &server).ok());
  EXPECT_EQ(server.name(), "tandem-serve");
  inference::ModelMetadataRequest request;
  request.set_name("m");
  inference::ModelMetadataResponse metadata;
  ASSERT_TRUE(stub_->ModelMetadata(&metadata_context, request, &metadata).ok());
  EXPECT_THAT(metadata.versions(), ElementsAre(absl::StrCat(kFirst)));
  EXPECT_EQ(metadata.inputs(0).datatype(), "FP32");
  EXPECT_THAT(metadata.inputs(0).shape(), ElementsAre(-1, 2));
  inference::ModelReadyRequest none;
  none.set_name("none");
  inference::ModelReadyResponse model_ready;
  ASSERT_TRUE(stub_->ModelReady(&none_context, none, &model_ready).ok());
  EXPECT_FALSE(model_ready.ready());
}

TEST_F(GrpcServerTest, ACancelledCallIsNotComputed) {
  Gate gate;
  models_.OnPredict([&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  const inference::ModelInferRequest request = Request({1, 2}, false);
  inference::ModelInferResponse response;
  std::thread running([&] { EXPECT_TRUE(Infer(request, &response).ok()); });
  gate.AwaitArrivals(1);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  inference::ModelInferResponse late;
  EXPECT_EQ(stub_->ModelInfer(&context, request, &late).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  // The server learns of it soon after the client.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  gate.Open();
  running.join();
  ASSERT_TRUE(Infer(request, &late).ok());
  EXPECT_THAT(models_.batches(), ElementsAre(1, 1));
}

TEST_F(GrpcServerTest, StopAnswersWhatRuns) {
  Gate gate;
  models_.OnPredict([&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  inference::ModelInferResponse response;
  std::thread running([&] { EXPECT_TRUE(Infer(Request({1, 2}, false), &response).ok()); });
  gate.AwaitArrivals(1);
  std::thread stopping([&] { EXPECT_EQ(server_->Stop(), absl::OkStatus()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  gate.Open();
  stopping.join();
  running.join();
  EXPECT_FALSE(Infer(Request({1, 2}, false), &response).ok());
}

}  // namespace
}  // namespace tandem::serving
