// The whole server over real sockets: REST, versions that come and go, limits and the end.
#include "estimator/serving/server/server.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/logging.h"
#include "base/steady_time.h"
#include "estimator/serving/server/http_client.h"
#include "estimator/serving/server/testing_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace tandem::serving {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr char kPredict[] = "/v1/models/m:predict";

void Await(const std::function<bool()>& holds) {
  const absl::Duration end = SteadyNow() + absl::Seconds(30);
  while (SteadyNow() < end) {
    if (holds()) return;
    absl::SleepFor(absl::Milliseconds(1));
  }
  ADD_FAILURE() << "not within 30 seconds";
}

Json Parsed(const HttpAnswer& answer) { return Json::parse(answer.body, nullptr, /*allow_exceptions=*/false); }

class ServerTest : public testing::Test {
 protected:
  ServerTest()
      : models_(absl::StrCat(testing::TempDir(), "/server_",
                             testing::UnitTest::GetInstance()->current_test_info()->name())) {}

  void Start(const ServerOptions& options, bool wait = true) {
    auto server = Server::Start(options, models_.Loader());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    if (wait) {
      ASSERT_EQ(server_->WaitUntilReady(absl::Seconds(30)), absl::OkStatus());
    }
  }
  void StartWithOneVersion() {
    models_.Export("m", kFirst);
    Start(models_.Options({"m"}));
  }
  int port() const { return server_->http_port(); }
  HttpAnswer Get(absl::string_view target) { return HttpClient(port()).Get(target); }
  HttpAnswer Post(absl::string_view target, absl::string_view body) { return HttpClient(port()).Post(target, body); }

  LogCapture log_;
  TestModels models_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, Predicts) {
  StartWithOneVersion();
  EXPECT_EQ(Post(kPredict, R"({"instances": [[1, 2], [3, 0.5]]})").body, "{\"predictions\":[[1.0,2.0],[3.0,0.5]]}\n");
  EXPECT_EQ(Post(kPredict, R"({"inputs": {"x": [[1, 2]]}})").body, "{\"outputs\":[[1.0,2.0]]}\n");
  EXPECT_EQ(Post(absl::StrCat("/v1/models/m/versions/", kFirst, ":predict"), R"({"instances": []})").body,
            "{\"predictions\":[]}\n");
}

TEST_F(ServerTest, SaysWhatIsWrongWithARequest) {
  StartWithOneVersion();
  const auto error = [&](const HttpAnswer& answer, int status) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json"));
    const Json json = Parsed(answer);
    return json.is_object() && json.contains("error") ? json["error"].get<std::string>() : "no JSON: " + answer.body;
  };
  EXPECT_THAT(error(Post(kPredict, R"({"instances": [[1, 2], [3]]})"), 400), HasSubstr("instances[1]: there is ]"));
  EXPECT_THAT(error(Post(kPredict, R"({"instances": [{"z": [1, 2]}]})"), 400), HasSubstr("\"z\" is no input"));
  EXPECT_THAT(error(Post(kPredict, "not json \xff"), 400), HasSubstr("byte 0"));
  EXPECT_THAT(error(Post("/v1/models/n:predict", "{}"), 404), HasSubstr("there is no model \"n\""));
  EXPECT_THAT(error(Post("/v1/models/m/versions/7:predict", "{}"), 404), HasSubstr("has no version 7"));
  EXPECT_THAT(error(Post("/v1/models/m/versions/x:predict", "{}"), 400), HasSubstr("\"x\" is no version"));
  EXPECT_THAT(error(Get("/v1/models/n"), 404), HasSubstr("there is no model"));
  EXPECT_THAT(error(Get("/v1/model/m"), 404), HasSubstr("/v1/models/MODEL"));
  EXPECT_THAT(error(Post("/v1/models/m:classify", "{}"), 404), HasSubstr(":predict"));
  EXPECT_THAT(error(Get(kPredict), 405), HasSubstr("this path takes POST"));
  EXPECT_THAT(Get(kPredict).head, HasSubstr("Allow: POST"));
  EXPECT_THAT(error(Post("/v1/models/m", ""), 405), HasSubstr("this path takes GET"));
  HttpClient packed(port());
  packed.Send("POST /v1/models/m:predict HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(error(packed.Read(), 415), HasSubstr("gzip"));
}

TEST_F(ServerTest, StatusAndMetadata) {
  StartWithOneVersion();
  models_.SetLoadError(kSecond, absl::DataLossError("predict.tdx: a byte has changed"));
  models_.Export("m", kSecond);
  Await([&] { return Get("/v1/models/m").body.find("DATA_LOSS") != std::string::npos; });
  const Json status = Parsed(Get("/v1/models/m"))["model_version_status"];
  ASSERT_EQ(status.size(), 2u);
  EXPECT_EQ(status[0]["version"], absl::StrCat(kSecond));
  EXPECT_EQ(status[0]["status"]["error_message"], "predict.tdx: a byte has changed");
  EXPECT_EQ(status[1], Json({{"version", absl::StrCat(kFirst)},
                             {"state", "AVAILABLE"},
                             {"status", {{"error_code", "OK"}, {"error_message", ""}}}}));
  EXPECT_EQ(Parsed(Get(absl::StrCat("/v1/models/m/versions/", kFirst)))["model_version_status"].size(), 1u);
  const Json metadata = Parsed(Get("/v1/models/m/metadata"));
  EXPECT_EQ(metadata["model_spec"]["version"], absl::StrCat(kFirst));
  const Json signature = metadata["metadata"]["signature_def"]["signature_def"]["serving_default"];
  EXPECT_EQ(signature["inputs"]["x"]["dtype"], "DT_FLOAT");
  EXPECT_EQ(signature["inputs"]["x"]["tensor_shape"]["dim"][0]["size"], "-1");
  EXPECT_EQ(signature["outputs"]["y"]["tensor_shape"]["dim"][1]["size"], "2");
}

TEST_F(ServerTest, HealthAndMetrics) {
  models_.Hold(kFirst);
  models_.Export("m", kFirst);
  Start(models_.Options({"m"}), /*wait=*/false);
  EXPECT_EQ(Get("/healthz").status, 200);
  EXPECT_EQ(Get("/readyz").status, 503);
  const HttpAnswer early = Post(kPredict, R"({"instances": [[1, 2]]})");
  EXPECT_EQ(early.status, 503);
  EXPECT_THAT(early.head, HasSubstr("Retry-After: 1"));
  models_.LetGo(kFirst);
  ASSERT_EQ(server_->WaitUntilReady(absl::Seconds(30)), absl::OkStatus());
  EXPECT_EQ(Get("/readyz").status, 200);
  EXPECT_EQ(Post(kPredict, R"({"instances": [[1, 2], [3, 4]]})").status, 200);
  EXPECT_EQ(Post(kPredict, "x").status, 400);
  const std::string text = Get("/metrics").body;
  for (const std::string& line :
       {std::string("tandem_requests_total{model=\"m\",api=\"rest\",code=\"OK\"} 1\n"),
        std::string("tandem_requests_total{model=\"m\",api=\"rest\",code=\"INVALID_ARGUMENT\"} 1\n"),
        std::string("tandem_batch_rows_bucket{model=\"m\",le=\"1\"} 0\n"),
        std::string("tandem_batch_rows_bucket{model=\"m\",le=\"2\"} 1\n"),
        std::string("tandem_batch_rows_bucket{model=\"m\",le=\"+Inf\"} 1\n"),
        std::string("tandem_batch_rows_sum{model=\"m\"} 2\n"), std::string("tandem_queued_requests{model=\"m\"} 0\n"),
        std::string("tandem_http_responses_total{code=\"400\"} 1\n"),
        absl::StrCat("tandem_model_version{model=\"m\",version=\"", kFirst, "\",state=\"AVAILABLE\"} 1\n")}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_EQ(Get("/monitoring/prometheus/metrics").status, 200);
}

TEST_F(ServerTest, OtherModelsServeWhileALargeOneLoads) {
  models_.Export("m", kFirst);
  models_.Export("large", kSecond);
  models_.Hold(kSecond);
  Start(models_.Options({"m", "large"}), /*wait=*/false);
  Await([&] { return Post(kPredict, R"({"instances": [[1, 2]]})").status == 200; });
  Await([&] { return models_.load_attempts() == 2; });
  const HttpAnswer answer = Post("/v1/models/large:predict", R"({"instances": [[1, 2]]})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("is being loaded"));
  models_.LetGo(kSecond);
  Await([&] { return Post("/v1/models/large:predict", R"({"instances": [[1, 2]]})").status == 200; });
}

TEST_F(ServerTest, ACancelledRequestOfABatchFailsAlone) {
  models_.Export("m", kFirst);
  ServerOptions options = models_.Options({"m"});
  options.batch.threads = 1;
  Start(options);
  Gate gate;
  models_.OnPredict([&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  HttpClient running(port()), stays(port());
  auto gone = std::make_unique<HttpClient>(port());
  running.Send(PostText(kPredict, R"({"instances": [[1, 2]]})"));
  gate.AwaitArrivals(1);
  const auto queued = [&](int count) {
    Await([&] {
      return Get("/metrics").body.find(absl::StrCat("tandem_queued_requests{model=\"m\"} ", count, "\n")) !=
             std::string::npos;
    });
  };
  gone->Send(PostText(kPredict, R"({"instances": [[3, 4]]})"));
  queued(1);
  stays.Send(PostText(kPredict, R"({"instances": [[5, 6]]})"));
  queued(2);
  gone.reset();
  // The server sees the end before it sees a later request of another client, or soon after it.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Get("/healthz").status, 200);
  gate.Open();
  EXPECT_EQ(stays.Read().body, "{\"predictions\":[[5.0,6.0]]}\n");
  EXPECT_EQ(running.Read().status, 200);
  Await([&] {
    return Get("/metrics").body.find("tandem_cancelled_requests_total{model=\"m\"} 1\n") != std::string::npos;
  });
}

TEST_F(ServerTest, AFullQueueRefuses) {
  models_.Export("m", kFirst);
  ServerOptions options = models_.Options({"m"});
  options.batch = {.max_rows = 1, .threads = 1, .max_queued = 1};
  Start(options);
  Gate gate;
  models_.OnPredict([&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  HttpClient running(port()), waiting(port());
  running.Send(PostText(kPredict, R"({"instances": [[1, 2]]})"));
  gate.AwaitArrivals(1);
  waiting.Send(PostText(kPredict, R"({"instances": [[1, 2]]})"));
  Await([&] { return Get("/metrics").body.find("tandem_queued_requests{model=\"m\"} 1\n") != std::string::npos; });
  const HttpAnswer refused = Post(kPredict, R"({"instances": [[1, 2]]})");
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.body, HasSubstr("requests wait for this model already"));
  gate.Open();
  EXPECT_EQ(running.Read().status, 200);
  EXPECT_EQ(waiting.Read().status, 200);
}

// Versions come while clients ask: every request gets one answer, of a version that there was.
TEST_F(ServerTest, ReloadUnderLoadLosesNothing) {
  StartWithOneVersion();
  constexpr int kClients = 4, kVersions = 20;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> answers{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      HttpClient connection(port());
      for (int i = 1; !stop; ++i) {
        const int value = client * 1000000 + i;
        const HttpAnswer answer = connection.Post(kPredict, absl::StrCat("{\"instances\": [[", value, ", 1]]}"));
        ASSERT_EQ(answer.status, 200) << answer.body;
        const Json row = Parsed(answer)["predictions"][0];
        const int version = row[1].get<int>();
        ASSERT_GE(version, 1);
        ASSERT_LE(version, kVersions);
        ASSERT_EQ(row[0].get<float>(), static_cast<float>(value) * static_cast<float>(version));
        ++answers;
      }
    });
  }
  for (int64_t version = 2; version <= kVersions; ++version) {
    const int64_t number = kFirst + version - 1, before = answers;
    models_.Export("m", number);
    Await([&] {
      return Get(absl::StrCat("/v1/models/m/versions/", number)).body.find("AVAILABLE") != std::string::npos &&
             answers > before;
    });
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(answers, kVersions);
}

TEST_F(ServerTest, StopAnswersWhatRuns) {
  StartWithOneVersion();
  Gate gate;
  models_.OnPredict([&](const NamedTensors&) {
    gate.Wait();
    return absl::OkStatus();
  });
  auto running = std::make_unique<HttpClient>(port());
  running->Send(PostText(kPredict, R"({"instances": [[1, 2]]})"));
  gate.AwaitArrivals(1);
  absl::Status stopped = absl::UnknownError("");
  std::thread stopping([&] { stopped = server_->Stop(); });
  gate.Open();
  EXPECT_EQ(running->Read().status, 200);
  running.reset();
  stopping.join();
  EXPECT_EQ(stopped, absl::OkStatus());
}

TEST_F(ServerTest, OptionsThatMakeNoServer) {
  const auto error = [&](const std::function<void(ServerOptions&)>& change) {
    ServerOptions options = models_.Options({"m"});
    change(options);
    const auto server = Server::Start(options, models_.Loader());
    EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(server.status().message());
  };
  EXPECT_THAT(error([](ServerOptions& o) { o.models.clear(); }), HasSubstr("there is no model to serve"));
  EXPECT_THAT(error([](ServerOptions& o) { o.models.push_back(o.models[0]); }), HasSubstr("two models"));
  EXPECT_THAT(error([](ServerOptions& o) { o.models[0].name = "a/b"; }), HasSubstr("is no name of a model"));
  EXPECT_THAT(error([](ServerOptions& o) { o.models[0].directory = ""; }), HasSubstr("no directory"));
  EXPECT_THAT(error([](ServerOptions& o) { o.http.port = 65536; }), HasSubstr("from 0 to 65535"));
  EXPECT_THAT(error([](ServerOptions& o) { o.http.threads = 0; }), HasSubstr("threads of HTTP is 0"));
  EXPECT_THAT(error([](ServerOptions& o) { o.batch.timeout = -absl::Seconds(1); }), HasSubstr("-1s"));
  EXPECT_THAT(error([](ServerOptions& o) { o.batch.threads = 0; }), HasSubstr("batches at once is 0"));
  EXPECT_THAT(error([](ServerOptions& o) { o.versions = 0; }), HasSubstr("versions at once is 0"));
  EXPECT_THAT(error([](ServerOptions& o) { o.address = "nowhere"; }), HasSubstr("is no IP address"));
  EXPECT_EQ(ParseModelOptions("a=b=c")->directory, "b=c");
  for (const char* text : {"", "a", "a=", "=b"}) EXPECT_FALSE(ParseModelOptions(text).ok()) << text;
}

}  // namespace
}  // namespace tandem::serving
