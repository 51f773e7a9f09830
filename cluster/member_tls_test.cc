// Processes that meet by TLS; those that TLS keeps apart, and what they say; and what others see and get.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cluster/handshake.h"
#include "cluster/member_test_util.h"
#include "cluster/rendezvous.grpc.pb.h"
#include "cluster/testing_certificates.h"
#include "cluster/tls_material.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

sockaddr_in Loopback(const std::string& address) {
  const std::vector<std::string> parts = absl::StrSplit(address, ':');
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(parts.back(), &port));
  sockaddr_in result = {};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  result.sin_port = htons(port);
  return result;
}

// Passes on what comes to an address of its own, and keeps all the bytes of both directions.
class Forwarder {
 public:
  explicit Forwarder(const std::string& to) : to_(Loopback(to)), address_(FreeAddress()) {
    listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in own = Loopback(address_);
    EXPECT_EQ(bind(listening_, reinterpret_cast<const sockaddr*>(&own), sizeof(own)), 0);
    EXPECT_EQ(listen(listening_, 8), 0);
    thread_ = std::thread([this] { Run(); });
  }
  ~Forwarder() {
    stop_ = true;
    thread_.join();
    close(listening_);
  }
  const std::string& address() const { return address_; }
  std::string bytes() {
    std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  void Run() {
    std::vector<std::pair<int, int>> pairs;
    while (!stop_) {
      std::vector<pollfd> polled = {{listening_, POLLIN, 0}};
      for (const auto& [a, b] : pairs) polled.insert(polled.end(), {{a, POLLIN, 0}, {b, POLLIN, 0}});
      poll(polled.data(), polled.size(), 50);
      if (polled[0].revents != 0) {
        const int from = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        connect(to, reinterpret_cast<const sockaddr*>(&to_), sizeof(to_));
        pairs.emplace_back(from, to);
      }
      for (size_t i = 1; i < polled.size(); ++i) {
        if (polled[i].revents == 0) continue;
        auto& [a, b] = pairs[(i - 1) / 2];
        const int in = polled[i].fd, out = in == a ? b : a;
        char buffer[1 << 16];
        const ssize_t n = recv(in, buffer, sizeof(buffer), 0);
        if (n > 0) {
          std::lock_guard lock(mutex_);
          bytes_.append(buffer, n);
        }
        if (n <= 0 || send(out, buffer, n, MSG_NOSIGNAL) != n) {
          close(a);
          close(b);
          pairs.erase(pairs.begin() + (i - 1) / 2);
          break;
        }
      }
    }
    for (const auto& [a, b] : pairs) close(a), close(b);
  }

  const sockaddr_in to_;
  const std::string address_;
  int listening_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::string bytes_;
  std::thread thread_;
};

class MemberTlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ca_ = new TestingCa("Tandem CA");
    other_ca_ = new TestingCa("Other CA");
    first_ = ca_->Make({.name = "first"});
    second_ = ca_->Make({.name = "second"});
  }

  static TestingCa *ca_, *other_ca_;
  static TlsFiles first_, second_;
};
TestingCa *MemberTlsTest::ca_, *MemberTlsTest::other_ca_;
TlsFiles MemberTlsTest::first_, MemberTlsTest::second_;

TEST_F(MemberTlsTest, ThreeProcessesWithCertificatesOfTheirOwn) {
  Start start{.world_size = 3, .coordinator = FreeAddress()};
  std::vector<Process> p;
  // The last comes long before rank 0.
  for (start.rank = 2; start.rank >= 0; --start.rank) {
    start.tls = start.rank == 0   ? first_
                : start.rank == 1 ? second_
                                  : ca_->Make({.name = "third", .names = "DNS:third"});
    p.emplace_back(start);
    usleep(200'000);
  }
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  EXPECT_EQ(p[0].Do("set key value"), "OK ");
  EXPECT_EQ(p[2].Do("get key"), "OK value");
  EXPECT_EQ(p[1].Do(absl::StrCat("set_bytes big ", 64 << 20)), "OK ");
  EXPECT_EQ(p[0].Do("count big"), absl::StrCat("OK ", 64 << 20));
  SayToAll(p, "barrier end");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  p[1].Signal(SIGKILL);
  EXPECT_THAT(p[0].Do("wait"), AllOf(StartsWith("E75 rank 1 "), HasSubstr("is lost: its connection broke")));
}

TEST_F(MemberTlsTest, OneCertificateForAllBySomeName) {
  Start start{.world_size = 3, .tls = ca_->Make({.name = "job", .names = "DNS:train.example"})};
  start.tls.server_name = "train.example";
  std::vector<Process> p = Met(start);
  SayToAll(p, "leave");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK left");
}

TEST_F(MemberTlsTest, HostsByNameAndByIpv6) {
  const TlsFiles files = ca_->Make({.name = "local", .names = "DNS:localhost,IP:::1"});
  for (const std::string host : {"localhost", "[::1]"}) {
    const std::string free = FreeAddress();
    Start start{.world_size = 2, .coordinator = absl::StrCat(host, free.substr(free.rfind(':'))), .tls = files};
    if (host == "[::1]" && access("/proc/net/if_inet6", R_OK) != 0) continue;
    std::vector<Process> p = Met(start);
    SayToAll(p, "leave");
    for (Process& process : p) EXPECT_EQ(process.Answer(), "OK left");
  }
}

// Rank 0 has its certificate by way of an intermediate one. Rank 1 is its own CA, which rank 0 knows.
TEST_F(MemberTlsTest, ChainsAndCertificatesThatNobodyIssued) {
  ca_->Make({.name = "between", .names = "", .extensions = "basicConstraints = critical, CA:TRUE\n"});
  Shell(absl::StrCat(
      "cd ", ca_->file("."), " && echo 'subjectAltName = IP:127.0.0.1' > leaf.ext",
      " && openssl req -new -nodes -newkey rsa:2048 -subj /CN=leaf -keyout leaf.key -out leaf.csr",
      " && openssl x509 -req -in leaf.csr -CA between.crt -CAkey between.key -days 9 -extfile leaf.ext -out leaf.only",
      " && cat leaf.only between.crt > leaf.crt",
      " && openssl req -x509 -nodes -newkey rsa:2048 -subj /CN=own -keyout own.key -out own.crt",
      " && cat ca.crt own.crt > trusted.crt"));
  const std::string trusted = ca_->file("trusted.crt");
  Start start{
      .world_size = 2, .coordinator = FreeAddress(), .tls = {ca_->file("leaf.crt"), ca_->file("leaf.key"), trusted}};
  Process first(start);
  start.rank = 1, start.tls = {ca_->file("own.crt"), ca_->file("own.key"), trusted};
  Process second(start);
  EXPECT_EQ(first.Answer(), "OK ");
  EXPECT_EQ(second.Answer(), "OK ");
}

TEST_F(MemberTlsTest, ASocketsFileOfOneMachine) {
  Start start{.world_size = 2, .job = absl::StrCat("tls-", getpid()), .tls = first_};
  std::vector<Process> p = Met(start);
  SayToAll(p, "leave");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK left");
}

TEST_F(MemberTlsTest, WhatKeepsTwoProcessesApart) {
  const TlsFiles none;
  const TlsFiles stranger = other_ca_->Make({.name = "stranger"});
  const TlsFiles elsewhere = ca_->Make({.name = "elsewhere", .names = "DNS:node-7.example,IP:10.0.0.7"});
  TlsFiles named = ca_->Make({.name = "named", .names = "DNS:job"});
  named.server_name = "job";
  // Knows both CAs, and has a certificate of the one that the other does not know.
  TlsFiles refused = other_ca_->Make({.name = "refused"});
  refused.ca = ca_->file("both.crt");
  Shell(absl::StrCat("cat ", ca_->file("ca.crt"), " ", other_ca_->file("ca.crt"), " > ", refused.ca));
  const char* const all = "set TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY and TANDEM_TLS_CA on all processes or on none";
  const struct {
    TlsFiles rank_0, rank_1;
    std::vector<std::string> texts;
  } cases[] = {
      {first_, none, {"it speaks TLS, and this process does not", all}},
      {none, second_, {"it does not speak TLS, and this process does", all}},
      {stranger,
       second_,
       {"its certificate, by \"Other CA\", was not issued by a CA of " + second_.ca,
        "give all processes certificates"}},
      {elsewhere,
       second_,
       {"its certificate is for node-7.example, 10.0.0.7 and not for 127.0.0.1", "TANDEM_TLS_SERVER_NAME"}},
      {second_, named, {"its certificate is for 127.0.0.1 and not for the server name job"}},
      {first_,
       refused,
       {"it refuses the certificate of this process, " + refused.certificate, "certificates of one CA"}},
  };
  for (const auto& [rank_0, rank_1, texts] : cases) {
    // No hang, and no wait for the patience of a minute.
    Start start{.world_size = 2, .coordinator = FreeAddress(), .deadline = 1, .tls = rank_0};
    Process first(start);
    start.rank = 1, start.tls = rank_1;
    Process second(start);
    const std::string answer = second.Answer();
    EXPECT_THAT(answer, StartsWith(absl::StrCat("E2 no connection to rank 0 at ", start.coordinator, ": it")));
    for (const std::string& text : texts) EXPECT_THAT(answer, HasSubstr(text));
  }
}

TEST_F(MemberTlsTest, RankZeroSaysWhoDoesNotCome) {
  Start start{.world_size = 2, .coordinator = FreeAddress(), .deadline = 1, .start_deadline = 3, .tls = first_};
  Process first(start);
  start.rank = 1, start.tls = {};
  Process second(start);
  EXPECT_THAT(first.Answer(), StartsWith("E75 rank 1 (worker 0) has not come within 3 s"));
}

TEST_F(MemberTlsTest, AMistakeInTheFilesIsToldAtOnce) {
  for (int64_t rank : {0, 1}) {
    Start start{.rank = rank, .coordinator = FreeAddress(), .tls = first_};
    start.tls.key = second_.key;
    EXPECT_THAT(Process(start).Answer(),
                StartsWith(absl::StrCat("E2 TLS: ", second_.key, ": the key does not belong")));
    start.tls = first_;
    start.tls.ca = "";
    EXPECT_THAT(Process(start).Answer(), StartsWith("E2 TLS: no ca; "));
  }
}

// What gRPC tells a client that has this, and begins a rendezvous.
std::string Begin(const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  auto stub = rendezvous::Rendezvous::NewStub(grpc::CreateChannel(address, credentials));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  auto stream = stub->Join(&context);
  rendezvous::ClientMessage message;
  message.mutable_hello()->set_rank(1);
  stream->Write(message);
  rendezvous::ServerMessage told;
  if (stream->Read(&told)) return "an answer";
  return absl::StrCat("error ", stream->Finish().error_code());
}

TEST_F(MemberTlsTest, StrangersGetNoAnswer) {
  Start start{.world_size = 2, .coordinator = FreeAddress(), .tls = first_};
  std::vector<Process> p = StartAll(start);
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  const auto read = [](const TlsFiles& files) { return ReadTlsFiles(files).value(); };
  const TlsMaterial own = read(second_), stranger = read(other_ca_->Make({.name = "unknown"}));
  const std::string unavailable = absl::StrCat("error ", grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Begin(start.coordinator, grpc::InsecureChannelCredentials()), unavailable);
  EXPECT_EQ(Begin(start.coordinator, grpc::SslCredentials({.pem_root_certs = own.ca})), unavailable);
  EXPECT_EQ(Begin(start.coordinator, grpc::SslCredentials({own.ca, stranger.key, stranger.certificate})), unavailable);
  EXPECT_EQ(Begin(start.coordinator, grpc::SslCredentials({own.ca, own.key, own.certificate})), "an answer");
  SayToAll(p, "barrier end");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
}

TEST_F(MemberTlsTest, NothingReadableIsOnTheWire) {
  const std::string secret(200, 's');
  for (bool encrypted : {false, true}) {
    Start start{.world_size = 2, .coordinator = FreeAddress(), .tls = encrypted ? first_ : TlsFiles()};
    Forwarder forwarder(start.coordinator);
    std::vector<Process> p;
    p.emplace_back(start);
    start.rank = 1, start.coordinator = forwarder.address();
    p.emplace_back(start);
    for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
    EXPECT_EQ(p[1].Do("set password " + secret), "OK ");
    EXPECT_EQ(p[0].Do("get password"), "OK " + secret);
    EXPECT_EQ(p[0].Do("set answer here-" + secret), "OK ");
    EXPECT_EQ(p[1].Do("get answer"), "OK here-" + secret);
    const std::string bytes = forwarder.bytes();
    EXPECT_GT(bytes.size(), 2 * secret.size());
    for (const std::string& text : {std::string("password"), secret, "here-" + secret, std::string("PRI * HTTP/2.0"),
                                    std::string("rendezvous")}) {
      if (encrypted) {
        EXPECT_THAT(bytes, Not(HasSubstr(text)));
      } else {
        EXPECT_THAT(bytes, HasSubstr(text));
      }
    }
  }
}

// Against other servers than ours.
TEST_F(MemberTlsTest, WhatAHandshakeTells) {
  const TlsFiles expired = ca_->Make({.name = "expired", .days = -1});
  const absl::StatusOr<TlsMaterial> own = ReadTlsFiles(second_);
  ASSERT_TRUE(own.ok());
  const std::string address = FreeAddress();
  EXPECT_EQ(WhyNoHandshake(address, &*own), "");
  EXPECT_EQ(WhyNoHandshake("no-such-host.invalid:1", &*own), "");
  const pid_t server = fork();
  if (server == 0) {
    execlp("openssl", "openssl", "s_server", "-quiet", "-accept", address.c_str(), "-cert", expired.certificate.c_str(),
           "-key", expired.key.c_str(), "-Verify", "1", "-CAfile", own->files.ca.c_str(), nullptr);
    _exit(127);
  }
  std::string why;
  for (int i = 0; i < 400 && why.empty(); ++i) {
    why = WhyNoHandshake(address, &*own);
    if (why.empty()) usleep(25'000);
  }
  EXPECT_THAT(why, AllOf(StartsWith("its certificate is valid from "), HasSubstr("; renew it")));
  EXPECT_THAT(WhyNoHandshake(address, nullptr), StartsWith("it speaks TLS, and this process does not"));
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);

  // One that takes connections and says nothing, or closes them: nobody knows why.
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string place = FreeAddress();
  const sockaddr_in there = Loopback(place);
  ASSERT_EQ(bind(silent, reinterpret_cast<const sockaddr*>(&there), sizeof(there)), 0);
  ASSERT_EQ(listen(silent, 8), 0);
  EXPECT_EQ(WhyNoHandshake(place, &*own, 0.1), "");
  EXPECT_EQ(WhyNoHandshake(place, nullptr, 0.1), "");
  std::thread closing([&] {
    for (int i = 0; i < 4; ++i) close(accept(silent, nullptr, nullptr));  // two of before
  });
  EXPECT_EQ(WhyNoHandshake(place, &*own), "");
  EXPECT_EQ(WhyNoHandshake(place, nullptr), "");
  closing.join();
  close(silent);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::MemberTestMain(argc, argv); }
