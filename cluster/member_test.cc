// Processes that meet, and those that cannot; what they share; and strangers who come to the same place.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cluster/member_test_util.h"
#include "cluster/rendezvous.grpc.pb.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(MemberTest, FourProcessesMeetAndShareAStore) {
  std::vector<Process> p = Met();
  p[3].Say("get key");  // before it is set
  EXPECT_EQ(p[1].Do("set key value"), "OK ");
  EXPECT_EQ(p[3].Answer(), "OK value");
  EXPECT_EQ(p[0].Do("get key"), "OK value");
  EXPECT_EQ(p[2].Do("set key value"), "OK ");
  EXPECT_THAT(p[2].Do("set key other"), AllOf(StartsWith("E2"), HasSubstr("has another value already")));
  EXPECT_THAT(p[2].Do("try_get nothing"), AllOf(StartsWith("E75"), HasSubstr("\"nothing\" has not been set")));
}

TEST(MemberTest, LargeValues) {
  std::vector<Process> p = Met({.world_size = 2});
  EXPECT_EQ(p[1].Do(absl::StrCat("set_bytes big ", 64 << 20)), "OK ");
  EXPECT_EQ(p[0].Do("count big"), absl::StrCat("OK ", 64 << 20));
  EXPECT_EQ(p[1].Do("count big"), absl::StrCat("OK ", 64 << 20));
  EXPECT_THAT(p[1].Do(absl::StrCat("set_bytes bigger ", (64 << 20) + 1)), StartsWith("E2 a name of 6 bytes"));
  EXPECT_EQ(p[1].Do("status"), "OK ");
}

TEST(MemberTest, BarrierWaitsForAllAndNamesWhoIsMissing) {
  std::vector<Process> p = Met();
  for (int round = 0; round < 3; ++round) {
    SayToAll(p, "barrier again");
    for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  }
  for (int rank : {0, 1, 3}) p[rank].Say("try_barrier end");
  for (int rank : {0, 1, 3}) {
    EXPECT_THAT(p[rank].Answer(), AllOf(StartsWith("E75 barrier \"end\": "), HasSubstr("not come in time")));
  }
}

TEST(MemberTest, AgreeTellsAllWhoDiffers) {
  std::vector<Process> p = Met();
  SayToAll(p, "agree steps 100");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  for (int rank = 0; rank < 4; ++rank) p[rank].Say(rank == 2 ? "agree batch 64" : "agree batch 32");
  for (Process& process : p) {
    EXPECT_EQ(process.Answer(), "E2 the processes differ in batch: \"32\" on ranks 0, 1, 3; \"64\" on rank 2");
  }
  EXPECT_EQ(p[0].Do("status"), "OK ");
}

TEST(MemberTest, WhoDoesNotComeIsNamed) {
  Start start{.coordinator = FreeAddress(), .start_deadline = 2};
  std::vector<Process> p;
  for (start.rank = 2; start.rank >= 0; --start.rank) p.emplace_back(start);
  for (Process& process : p) {
    EXPECT_EQ(process.Answer(), "E75 rank 3 (worker 2) has not come within 2 s; 3 of 4 are there: ranks 0, 1, 2");
  }
}

TEST(MemberTest, WorkersWithoutRankZero) {
  Start start{.rank = 1, .coordinator = FreeAddress(), .start_deadline = 1};
  testing::internal::CaptureStderr();
  const std::string answer = Process(start).Answer();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(answer, StartsWith(absl::StrCat("E75 rank 0 does not answer at ", start.coordinator, " within 1 s (")));
  EXPECT_THAT(log, HasSubstr(absl::StrCat("Waiting: rank 0 does not answer at ", start.coordinator)));
}

TEST(MemberTest, TheSameRankTwice) {
  Start start{.coordinator = FreeAddress()};
  std::vector<Process> p = StartAll(start);
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  start.rank = 2;
  Process second(start);
  EXPECT_THAT(second.Answer(), AllOf(StartsWith("E2 rank 2 is taken: rank 2 (worker 1 at "),
                                     HasSubstr(absl::StrCat("pid ", p[2].pid())), HasSubstr("has come before")));
  EXPECT_EQ(p[2].Do("status"), "OK ");
}

TEST(MemberTest, AnotherWorldSize) {
  Start start{.world_size = 3, .coordinator = FreeAddress()};
  std::vector<Process> p;
  p.emplace_back(start);
  start.rank = 1;
  p.emplace_back(start);
  start.rank = 2, start.world_size = 4;
  p.emplace_back(start);
  for (Process& process : p) {
    EXPECT_THAT(process.Answer(), StartsWith("E2 the processes differ in world size: 3 on rank 0, 4 on rank 2; "));
  }
}

TEST(MemberTest, AnotherFact) {
  for (std::string fact : {"2", "none"}) {
    Start start{.world_size = 3, .coordinator = FreeAddress()};
    std::vector<Process> p;
    for (start.rank = 0; start.rank < 3; ++start.rank) {
      start.build = start.rank == 1 ? fact : "1";
      p.emplace_back(start);
    }
    const std::string there = fact == "none" ? fact : "\"2\"";
    for (Process& process : p) {
      EXPECT_THAT(process.Answer(),
                  StartsWith(absl::StrCat("E2 the processes differ in build: \"1\" on rank 0, ", there, " on rank 1")));
    }
  }
}

TEST(MemberTest, AnAddressInUse) {
  Start start{.coordinator = FreeAddress()};
  std::vector<Process> p = StartAll(start);
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  EXPECT_THAT(Process(start).Answer(),
              StartsWith(absl::StrCat("E2 rank 0 cannot listen at ", start.coordinator, ": address in use; ")));
  EXPECT_EQ(p[1].Do("status"), "OK ");
}

TEST(MemberTest, AnAddressOfAnotherMachine) {
  EXPECT_THAT(Process({.coordinator = "192.0.2.1:2222"}).Answer(),
              StartsWith("E2 rank 0 cannot listen at 192.0.2.1:2222: not an address of this machine; "));
}

TEST(MemberTest, StrangersDoNotDisturb) {
  Start start{.coordinator = FreeAddress()};
  std::vector<Process> p = StartAll(start);
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(start.coordinator.substr(start.coordinator.find(':') + 1), &port));
  address.sin_port = htons(port);
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  std::string garbage = preface;
  for (int i = 0; i < 10000; ++i) garbage += static_cast<char>(i * 7919 % 251);
  for (const std::string& bytes : {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"), garbage,
                                   preface + std::string(9, '\0') + garbage, std::string(1 << 20, '\xff')}) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    usleep(50'000);
    close(fd);
  }
  SayToAll(p, "barrier end");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
}

TEST(MemberTest, WhoSpeaksTheProtocolAndHasNoPlaceDoesNotDisturb) {
  Start start{.coordinator = FreeAddress()};
  std::vector<Process> p = StartAll(start);
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
  auto channel = grpc::CreateChannel(start.coordinator, grpc::InsecureChannelCredentials());
  auto stub = rendezvous::Rendezvous::NewStub(channel);
  // What the stream that begins with the message is told.
  const auto answer = [&](const rendezvous::ClientMessage& message) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    auto stream = stub->Join(&context);
    stream->Write(message);
    rendezvous::ServerMessage told;
    const bool any = stream->Read(&told);
    EXPECT_FALSE(any && stream->Read(&told));
    EXPECT_TRUE(stream->Finish().ok());
    return any ? told.failure().message() : "nothing";
  };
  rendezvous::ClientMessage message;
  EXPECT_EQ(answer(message), "nothing");
  message.mutable_leave();
  EXPECT_EQ(answer(message), "nothing");
  message.mutable_gives_up()->set_message("all is lost");
  EXPECT_EQ(answer(message), "nothing");
  rendezvous::Hello& hello = *message.mutable_hello();
  hello.set_protocol(kProtocol + 1);
  hello.set_rank(1);
  hello.set_world_size(4);
  EXPECT_THAT(answer(message), HasSubstr("does not understand"));
  hello.set_protocol(kProtocol);
  for (int64_t rank : {int64_t{-1}, int64_t{4}, INT64_MAX, INT64_MIN}) {
    hello.set_rank(rank);
    EXPECT_THAT(answer(message), HasSubstr("does not understand"));
  }
  hello.set_rank(1);
  hello.set_who(std::string(kMaxHelloBytes, '\xff'));
  EXPECT_THAT(answer(message), HasSubstr("does not understand"));
  hello.set_who("\x1b[2J");
  hello.set_world_size(INT64_MAX);
  EXPECT_THAT(answer(message), HasSubstr("world size: 4 on rank 0, 9223372036854775807 on rank 1"));

  rendezvous::Request request;
  request.set_session(12345);
  request.set_kind(rendezvous::Request::BARRIER);
  rendezvous::Reply reply;
  grpc::ClientContext context;
  EXPECT_TRUE(stub->Ask(&context, request, &reply).ok());
  EXPECT_EQ(reply.failure().message(), "no process of this cluster");

  SayToAll(p, "barrier end");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK ");
}

TEST(MemberTest, OneHostNeedsNoAddress) {
  const Start start{.job = absl::StrCat("test-", getpid())};
  {
    std::vector<Process> p = Met(start);
    EXPECT_THAT(Process(start).Answer(), AllOf(StartsWith("E2 rank 0 cannot listen at "), HasSubstr("in use")));
    p[0].Signal(SIGKILL);
  }
  // What the dead rank 0 has left is in nobody's way.
  std::vector<Process> p = Met(start);
  SayToAll(p, "leave");
  for (Process& process : p) EXPECT_EQ(process.Answer(), "OK left");
}

TEST(MemberTest, SeveralHostsNeedAnAddress) {
  EXPECT_THAT(Process({.rank = 1}).Answer(),
              AllOf(StartsWith("E2 no address to meet at"), HasSubstr("set TANDEM_COORDINATOR=HOST:PORT")));
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::MemberTestMain(argc, argv); }
