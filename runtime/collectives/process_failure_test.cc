// What a process group does when a rank dies, stops, leaves, makes another call or is told to give up.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "runtime/collectives/connect.h"
#include "runtime/collectives/testing/folder_store.h"
#include "runtime/collectives/testing/processes.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(5), kShortDeadline = absl::Seconds(1);
// On top of the deadline, for a busy machine.
constexpr absl::Duration kSlack = absl::Seconds(10);
constexpr int kWrong = 1;

absl::Status AllReduce(ProcessGroup& group, std::vector<float>& values, absl::string_view what = "gradients") {
  const std::unique_ptr<bool[]> present(new bool[group.size()]);
  std::fill(present.get(), present.get() + group.size(), true);
  const ProcessGroup::Values v = {DType::kFloat32, values.data(), static_cast<int64_t>(values.size())};
  return group.AllReduce(format::ReduceKind::kSum, {v}, absl::MakeConstSpan(present.get(), group.size()), what);
}

// Prints what is wrong.
bool Expect(bool good, absl::string_view what) {
  if (!good) std::printf("not so: %s\n", std::string(what).c_str());
  return good;
}

class ProcessFailureTest : public testing::TestWithParam<Communication> {
 protected:
  // Ranks that call `body`, whose result is their exit code, as soon as all are connected.
  std::unique_ptr<Processes> Start(int size, const std::function<int(ProcessGroup&)>& body,
                                   absl::Duration deadline = kDeadline) {
    return std::make_unique<Processes>(size, [this, size, body, deadline](int rank) {
      FolderStore store(folder_.path());
      auto group = ConnectProcessGroup({rank, size, &store, "start", GetParam(), "127.0.0.1", "", deadline});
      if (!group.ok()) {
        std::printf("rank %d: %s\n", rank, group.status().ToString().c_str());
        return kWrong;
      }
      return body(**group);
    });
  }

  // All-reduces until one fails, which must be because of a lost rank, and to stay so.
  static int ReduceUntilItFails(ProcessGroup& group, int64_t count, absl::string_view loss) {
    std::vector<float> values(count);
    absl::Time begin;
    absl::Status status;
    do {
      begin = absl::Now();
      status = AllReduce(group, values);
    } while (status.ok());
    const absl::Duration took = absl::Now() - begin;
    std::printf("rank %d, %s: %s after %s: %s\n", group.rank(), group.transport().c_str(), std::string(loss).c_str(),
                absl::FormatDuration(took).c_str(), status.ToString().c_str());
    bool good = Expect(absl::IsUnavailable(status), "Unavailable");
    good &= Expect(status.message().find("gradients") != std::string::npos, "the message names the collective");
    good &= Expect(took < kDeadline + kSlack, "within the deadline");
    good &= Expect(AllReduce(group, values, "later") == status, "later calls return the first error");
    std::byte byte{};
    good &= Expect(group.Broadcast({&byte, 1}, 0, "later") == status, "other calls return it too");
    return good ? 0 : kWrong;
  }

  void LoseOne(int size, int64_t count, int signal, absl::string_view loss, absl::Duration deadline = kDeadline) {
    auto processes = Start(
        size, [&](ProcessGroup& group) { return ReduceUntilItFails(group, count, loss); }, deadline);
    absl::SleepFor(absl::Milliseconds(700));
    processes->Signal(size - 1, signal);
    for (int rank = 0; rank < size - 1; ++rank) EXPECT_EQ(processes->Wait(rank), 0);
  }

  TestFolder folder_;
};

TEST_P(ProcessFailureTest, KilledInLargeAllReduces) { LoseOne(4, 4 << 20, SIGKILL, "kill"); }
TEST_P(ProcessFailureTest, KilledInSmallAllReduces) { LoseOne(3, 100, SIGKILL, "kill"); }
TEST_P(ProcessFailureTest, StoppedInLargeAllReduces) { LoseOne(3, 4 << 20, SIGSTOP, "stop"); }
TEST_P(ProcessFailureTest, StoppedInSmallAllReduces) { LoseOne(2, 100, SIGSTOP, "stop", kShortDeadline); }

TEST_P(ProcessFailureTest, ARankThatLeavesInPeaceDisturbsNoCallBefore) {
  auto processes = Start(4, [](ProcessGroup& group) {
    std::vector<float> values(300000, 1);
    // The others have yet to take their results when the fastest leaves.
    for (int i = 0; i < 20; ++i) {
      if (!Expect(AllReduce(group, values).ok(), "all-reduce before anybody leaves")) return kWrong;
    }
    return 0;
  });
  EXPECT_EQ(processes->WaitAll(), 0);
}

TEST_P(ProcessFailureTest, ARankThatHasLeftIsMissed) {
  auto processes = Start(3, [](ProcessGroup& group) {
    std::vector<float> values(100);
    if (!Expect(AllReduce(group, values).ok(), "all-reduce before one leaves")) return kWrong;
    return group.rank() == 1 ? 0 : ReduceUntilItFails(group, 100, "leave");
  });
  EXPECT_EQ(processes->WaitAll(), 0);
}

TEST_P(ProcessFailureTest, AbortWakesTheCallThatWaits) {
  auto processes = Start(2, [](ProcessGroup& group) {
    std::vector<float> values(group.rank() == 0 ? 100 : 1);
    if (group.rank() == 1) {
      absl::SleepFor(absl::Seconds(2));  // rank 0 waits in vain
      return Expect(!AllReduce(group, values).ok(), "a call with a rank that has given up fails") ? 0 : kWrong;
    }
    std::thread other([&] {
      absl::SleepFor(absl::Milliseconds(300));
      group.Abort(absl::CancelledError("enough"));
    });
    const absl::Time begin = absl::Now();
    const absl::Status status = AllReduce(group, values);
    const absl::Duration took = absl::Now() - begin;
    other.join();
    std::printf("%s: abort after %s\n", group.transport().c_str(), absl::FormatDuration(took).c_str());
    bool good = Expect(status == absl::CancelledError("enough"), absl::StrCat("the reason: ", status.ToString()));
    good &= Expect(took < absl::Seconds(1.9), "woken before the other came");
    good &= Expect(AllReduce(group, values) == status, "later calls return it");
    group.Abort(absl::InternalError("again"));
    good &= Expect(AllReduce(group, values) == status, "the first reason stays");
    return good ? 0 : kWrong;
  });
  EXPECT_EQ(processes->WaitAll(), 0);
}

TEST_P(ProcessFailureTest, RanksThatMeanDifferentVectors) {
  // Pairs of lengths: both go in one hop, one does, none does.
  const int64_t lengths[][2] = {{100, 101}, {100, 1 << 20}, {1 << 20, (1 << 20) + 5000}};
  for (const auto& pair : lengths) {
    TestFolder folder;
    Processes processes(2, [&](int rank) {
      FolderStore store(folder.path());
      auto group = ConnectProcessGroup({rank, 2, &store, "start", GetParam(), "127.0.0.1", "", absl::Seconds(1)});
      if (!Expect(group.ok(), "connected")) return kWrong;
      std::vector<float> values(pair[rank] + 1000, 77);
      const bool present[] = {true, true};
      const ProcessGroup::Values v = {DType::kFloat32, values.data(), pair[rank]};
      const absl::Status status = (*group)->AllReduce(format::ReduceKind::kSum, {v}, present, "gradients");
      bool good = Expect(!status.ok(), "an error");
      for (size_t i = pair[rank]; i < values.size(); ++i) good &= values[i] == 77;
      return Expect(good, "nothing is written behind the vector") ? 0 : kWrong;
    });
    EXPECT_EQ(processes.WaitAll(), 0) << pair[0] << " and " << pair[1];
  }
}

TEST_P(ProcessFailureTest, ARankThatDoesNotComeIsMissedWhenConnecting) {
  Processes processes(1, [&](int) {
    FolderStore store(folder_.path());
    auto group = ConnectProcessGroup({0, 2, &store, "start", GetParam(), "127.0.0.1", "", absl::Milliseconds(300)});
    return Expect(absl::IsDeadlineExceeded(group.status()), group.status().ToString()) ? 0 : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

TEST_P(ProcessFailureTest, WrongArgumentsDoNotBreakTheGroup) {
  auto processes = Start(2, [](ProcessGroup& group) {
    float values[2] = {1, 2};
    const bool all[] = {true, true};
    const ProcessGroup::Values v = {DType::kFloat32, values, 2}, other = {DType::kInt32, values, 2},
                               bytes = {DType::kUInt8, values, 2};
    auto reduce = [&](format::ReduceKind kind, std::vector<ProcessGroup::Values> vectors,
                      absl::Span<const bool> present) { return group.AllReduce(kind, vectors, present, "gradients"); };
    bool good = absl::IsInvalidArgument(reduce(format::ReduceKind::kMean, {v}, all));
    good &= absl::IsInvalidArgument(reduce(format::ReduceKind::kSum, {v, other}, all));
    good &= absl::IsInvalidArgument(reduce(format::ReduceKind::kSum, {bytes}, all));
    good &= absl::IsInvalidArgument(reduce(format::ReduceKind::kSum, {v}, absl::MakeConstSpan(all, 1)));
    std::byte memory[4] = {};
    good &= absl::IsInvalidArgument(group.Broadcast({memory, 4}, 2, "variables"));
    good &= absl::IsInvalidArgument(group.AllGather({memory, 1}, {memory, 4}, "losses"));
    good &= reduce(format::ReduceKind::kSum, {v}, all).ok() && values[1] == 4;
    return Expect(good, "InvalidArgument") ? 0 : kWrong;
  });
  EXPECT_EQ(processes->WaitAll(), 0);
}

std::string NameOf(const testing::TestParamInfo<Communication>& info) {
  return info.param == Communication::kRing ? "ring" : info.param == Communication::kTcp ? "tcp" : "shared";
}

INSTANTIATE_TEST_SUITE_P(Transports, ProcessFailureTest,
                         testing::Values(Communication::kTcp, Communication::kSharedMemory, Communication::kRing),
                         NameOf);

TEST(ConnectTest, TakesSharedMemoryOnOneHost) {
  TestFolder folder;
  Processes processes(2, [&](int rank) {
    FolderStore store(folder.path());
    auto group = ConnectProcessGroup({rank, 2, &store, "start", Communication::kAuto, "127.0.0.1", "", kDeadline});
    return group.ok() && (*group)->transport() == "shared memory" ? 0 : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

TEST(ConnectTest, WhatIsPrintedDoesNotGoIntoSharedMemory) {
  TestFolder folder;
  Processes processes(2, [&](int rank) {
    FolderStore store(folder.path());
    for (int fd : {0, 1, 2}) close(fd);
    auto group =
        ConnectProcessGroup({rank, 2, &store, "start", Communication::kSharedMemory, "127.0.0.1", "", kDeadline});
    if (!group.ok()) return kWrong;
    for (int fd : {0, 1, 2}) {
      if (write(fd, "log line", 8) >= 0) return kWrong + 1;
    }
    std::vector<float> values(1000, 1);
    return AllReduce(**group, values).ok() && values == std::vector<float>(1000, 2) ? 0 : kWrong + 2;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

// Tells the others that rank 1 is on another host.
class OtherHostStore : public FolderStore {
 public:
  using FolderStore::FolderStore;
  absl::Status Set(absl::string_view key, absl::string_view value) override {
    const bool host = key == "start/shared/host/1";
    return FolderStore::Set(key, host ? absl::StrCat("elsewhere,", value) : value);
  }
};

TEST(ConnectTest, TakesTcpBetweenHosts) {
  TestFolder folder;
  Processes processes(3, [&](int rank) {
    OtherHostStore store(folder.path());
    auto group = ConnectProcessGroup({rank, 3, &store, "start", Communication::kAuto, "", "lo", kDeadline});
    return Expect(group.ok() && (*group)->transport() == "TCP (Gloo)", group.status().ToString()) ? 0 : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

TEST(ConnectTest, AddressesThatAreNotHere) {
  Processes processes(1, [&](int) {
    FolderStore store("/nowhere");
    bool good = true;
    // A name that nobody has, an address of nobody, no interface, nothing.
    for (auto [address, interface] :
         {std::pair("no-such-host.invalid", ""), {"192.0.2.1", ""}, {"", "no0"}, {"", ""}}) {
      auto group = ConnectProcessGroup({0, 2, &store, "start", Communication::kTcp, address, interface, kDeadline});
      std::printf("%s\n", group.status().ToString().c_str());
      good &= Expect(absl::IsInvalidArgument(group.status()), "InvalidArgument");
      if (*interface != 0) {
        good &=
            Expect(group.status().message() == "rank 0 cannot listen at interface \"no0\": there is no such interface",
                   "the interface");
      }
    }
    return good ? 0 : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

}  // namespace
}  // namespace tandem
