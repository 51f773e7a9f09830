#include "estimator/serving/server/http_server.h"

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/steady_time.h"
#include "estimator/serving/server/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::serving {
namespace {

using ::testing::HasSubstr;

// Answers with method, target and size of the body; requests for /later when the test says so.
class EchoHandler : public HttpHandler {
 public:
  void Handle(HttpRequest request, CancelFlag cancelled, HttpRespond respond) override {
    const std::string text = absl::StrCat(request.method, " ", request.target, " ", request.body.size());
    const auto make = [text] { return HttpResponse{.content_type = "text/plain", .body = text}; };
    if (request.target != "/later") return respond(make);
    const std::lock_guard<std::mutex> lock(mutex_);
    later_.push_back([respond, make] { respond(make); });
    cancelled_.push_back(std::move(cancelled));
  }
  size_t waiting() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return later_.size();
  }
  bool cancelled(size_t i) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return cancelled_[i]->load();
  }
  void AnswerAll() {
    std::vector<std::function<void()>> later;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      later.swap(later_);
    }
    for (const auto& answer : later) answer();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> later_;
  std::vector<CancelFlag> cancelled_;
};

void Await(const std::function<bool()>& holds) {
  const absl::Duration end = SteadyNow() + absl::Seconds(30);
  while (SteadyNow() < end) {
    if (holds()) return;
    absl::SleepFor(absl::Milliseconds(1));
  }
  ADD_FAILURE() << "not within 30 seconds";
}

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options = {}) {
    options.port = 0;
    auto server = HttpServer::Start("127.0.0.1", options, &handler_, &metrics_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  int port() const { return server_->port(); }

  Metrics metrics_{std::vector<std::string>{}};
  EchoHandler handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, KeepsConnections) {
  Start();
  HttpClient client(port());
  for (int i = 0; i < 3; ++i) {
    const HttpAnswer answer = client.Post("/x", "12345");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "POST /x 5");
  }
  client.Send("GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /last 0");
  EXPECT_TRUE(client.Ends());
}

TEST_F(HttpServerTest, OldHttpGetsOneAnswer) {
  Start();
  HttpClient client(port());
  client.Send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /old 0");
  EXPECT_TRUE(client.Ends());
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInTheirOrder) {
  Start();
  HttpClient client(port());
  std::string requests = "GET /later HTTP/1.1\r\nHost: h\r\n\r\n";
  for (int i = 0; i < 20; ++i) requests += PostText(absl::StrCat("/", i), std::string(static_cast<size_t>(i), 'x'));
  client.Send(requests);
  Await([&] { return handler_.waiting() == 1; });
  EXPECT_FALSE(handler_.cancelled(0)) << "what came behind it is no end";
  handler_.AnswerAll();
  EXPECT_EQ(client.Read().body, "GET /later 0");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.Read().body, absl::StrCat("POST /", i, " ", i));
}

TEST_F(HttpServerTest, ARequestInPiecesAndChunks) {
  Start();
  HttpClient client(port());
  for (const char c : PostText("/pieces", "abc")) client.Send(absl::string_view(&c, 1));
  EXPECT_EQ(client.Read().body, "POST /pieces 3");
  client.Send("POST /chunks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.Read().body, "POST /chunks 5");
}

TEST_F(HttpServerTest, ContinuesWhereAClientAsks) {
  Start();
  HttpClient client(port());
  client.Send("POST /c HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  client.Send("abc");
  EXPECT_EQ(client.Read().body, "POST /c 3");
}

TEST_F(HttpServerTest, LargeBodiesAndHeadersAreRefused) {
  Start({.max_header_bytes = 1024, .max_body_bytes = 1000});
  HttpClient exact(port());
  EXPECT_EQ(exact.Post("/", std::string(1000, 'x')).status, 200);
  const HttpAnswer body = exact.Post("/", std::string(1001, 'x'));
  EXPECT_EQ(body.status, 413);
  EXPECT_THAT(body.body, HasSubstr("more than 1000 bytes"));
  HttpClient chunked(port());
  chunked.Send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 2; ++i) chunked.Send(absl::StrCat("258\r\n", std::string(600, 'x'), "\r\n"));
  EXPECT_EQ(chunked.Read().status, 413);
  HttpClient header(port());
  header.Send(absl::StrCat("GET / HTTP/1.1\r\nX-Long: ", std::string(5000, 'x'), "\r\n\r\n"));
  EXPECT_EQ(header.Read().status, 431);
  EXPECT_TRUE(header.Ends());
  HttpClient endless(port());
  endless.Send("GET / HTTP/1.1\r\n");
  for (int line = 0; line < 1000 && endless.Send("X: y\r\n"); ++line) {
  }
  EXPECT_EQ(endless.Read().status, 431);
}

TEST_F(HttpServerTest, WhatIsNoHttpIsAnsweredWith400) {
  Start();
  for (const char* text : {"hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\x01 HTTP/1.1\r\n\r\n",
                           "GET / HTTP/1.1\r\nno colon\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    HttpClient client(port());
    client.Send(text);
    EXPECT_EQ(client.Read().status, 400) << text;
    EXPECT_TRUE(client.Ends()) << text;
  }
}

TEST_F(HttpServerTest, HalfARequestHoldsNothingForEver) {
  Start({.threads = 1, .read_timeout = absl::Milliseconds(200)});
  HttpClient header(port()), body(port()), idle(port());
  header.Send("POST / HTTP/1.1\r\nHost:");
  body.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  // The only thread is free for others meanwhile.
  EXPECT_EQ(HttpClient(port()).Get("/other").status, 200);
  for (HttpClient* client : {&header, &body}) {
    const HttpAnswer answer = client->Read();
    EXPECT_EQ(answer.status, 408);
    EXPECT_THAT(answer.body, HasSubstr("200ms"));
    EXPECT_TRUE(client->Ends());
  }
  EXPECT_EQ(idle.Get("/idle").status, 200) << "a connection without a request has more time";
}

TEST_F(HttpServerTest, BytesThatDripDoNotProlongTheTime) {
  Start({.read_timeout = absl::Milliseconds(200)});
  HttpClient client(port());
  const absl::Duration end = SteadyNow() + absl::Seconds(30);
  client.Send("GET / HTTP/1.1\r\n");
  while (client.Send("X") && SteadyNow() < end) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_LT(SteadyNow(), end);
}

TEST_F(HttpServerTest, IdleConnectionsEnd) {
  Start({.idle_timeout = absl::Milliseconds(100)});
  HttpClient fresh(port()), used(port());
  EXPECT_EQ(used.Get("/").status, 200);
  EXPECT_TRUE(fresh.Ends());
  EXPECT_TRUE(used.Ends());
}

TEST_F(HttpServerTest, AClientThatGoesAwayIsNoticed) {
  Start();
  auto gone = std::make_unique<HttpClient>(port()), reset = std::make_unique<HttpClient>(port());
  HttpClient stays(port());
  gone->Send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  Await([&] { return handler_.waiting() == 1; });
  reset->Send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  Await([&] { return handler_.waiting() == 2; });
  stays.Send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  Await([&] { return handler_.waiting() == 3; });
  gone.reset();
  reset->Reset();
  Await([&] { return handler_.cancelled(0) && handler_.cancelled(1); });
  EXPECT_FALSE(handler_.cancelled(2));
  handler_.AnswerAll();
  EXPECT_EQ(stays.Read().status, 200);
}

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitAreToldSo) {
  Start({.max_connections = 2});
  auto a = std::make_unique<HttpClient>(port());
  HttpClient b(port());
  EXPECT_EQ(a->Get("/").status, 200);
  EXPECT_EQ(b.Get("/").status, 200);
  HttpClient c(port());
  const HttpAnswer answer = c.Get("/");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("2 connections"));
  EXPECT_TRUE(c.Ends());
  a.reset();
  Await([&] { return HttpClient(port()).Get("/").status == 200; });
}

TEST_F(HttpServerTest, StopAnswersWhatRunsAndRefusesMore) {
  Start();
  HttpClient running(port()), idle(port()), half(port());
  EXPECT_EQ(idle.Get("/").status, 200);
  running.Send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  half.Send("POST /half HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n1");
  Await([&] { return handler_.waiting() == 1; });
  int64_t cut = -1;
  std::thread stopping([&] { cut = server_->Stop(absl::Seconds(30)); });
  EXPECT_TRUE(idle.Ends());
  half.Send("2");
  EXPECT_EQ(half.Read().status, 503);
  EXPECT_TRUE(half.Ends());
  handler_.AnswerAll();
  const HttpAnswer answer = running.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Connection: close"));
  EXPECT_TRUE(running.Ends());
  running.Reset();
  half.Reset();
  stopping.join();
  EXPECT_EQ(cut, 0);
}

TEST_F(HttpServerTest, StopCutsWhatTakesTooLong) {
  Start();
  HttpClient running(port());
  running.Send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  Await([&] { return handler_.waiting() == 1; });
  EXPECT_EQ(server_->Stop(absl::Milliseconds(20)), 1);
  handler_.AnswerAll();  // nobody gets it, and nothing breaks
}

TEST_F(HttpServerTest, AddressesThatAreTakenOrNone) {
  Start();
  const auto taken = HttpServer::Start("127.0.0.1", {.port = port()}, &handler_, &metrics_);
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(taken.status().message()), HasSubstr(absl::StrCat("127.0.0.1:", port())));
  const auto none = HttpServer::Start("localhost", {.port = 0}, &handler_, &metrics_);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem::serving
