// How a group is connected over TCP when an address refuses for a while, or a rank does not come.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/logging.h"
#include "gtest/gtest.h"
#include "runtime/collectives/connect.h"
#include "runtime/collectives/testing/folder_store.h"
#include "runtime/collectives/testing/processes.h"

namespace tandem {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(30), kShortDeadline = absl::Seconds(1);
// Where rank 0 and rank 1 listen. Of two ranks the one with the higher address connects.
constexpr absl::string_view kHosts[] = {"127.0.0.1", "127.0.0.2"};
constexpr int kWrong = 1, kGone = 9;

bool ExpectIn(absl::string_view part, absl::string_view text) {
  const bool in = absl::StrContains(text, part);
  if (!in) std::printf("\"%s\" is not in: %s\n", std::string(part).c_str(), std::string(text).c_str());
  return in;
}

// Others see another address of a rank than the one it has set.
class OtherAddressStore : public FolderStore {
 public:
  // `change` what rank `of` says, of two.
  OtherAddressStore(std::string folder, int of, std::function<void(sockaddr_in&)> change)
      : FolderStore(std::move(folder)), key_(absl::StrCat("start/gloo/", of)), change_(std::move(change)) {}
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) override {
    auto text = FolderStore::Get(key, timeout);
    if (!text.ok() || key != key_) return text;
    std::string bytes = absl::HexStringToBytes(*text);
    sockaddr_in address;
    std::memcpy(&address, bytes.data(), sizeof(address));
    change_(address);
    std::memcpy(bytes.data(), &address, sizeof(address));
    return absl::BytesToHexString(bytes);
  }

 private:
  const std::string key_;
  const std::function<void(sockaddr_in&)> change_;
};

// A rank of its cluster is lost as soon as the key "dead" is set.
class MortalStore : public FolderStore {
 public:
  using FolderStore::FolderStore;
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) override {
    auto value = FolderStore::Get(key, timeout);
    if (value.ok() || !FolderStore::Get("dead", absl::ZeroDuration()).ok()) return value;
    return absl::UnavailableError("the other rank is lost");
  }
};

// Its process goes no further than to where it says where it listens.
class LastWordsStore : public FolderStore {
 public:
  LastWordsStore(std::string folder, std::function<void(absl::string_view address)> last)
      : FolderStore(std::move(folder)), last_(std::move(last)) {}
  absl::Status Set(absl::string_view key, absl::string_view value) override {
    if (key == "start/gloo/0" || key == "start/gloo/1") last_(value);
    return FolderStore::Set(key, value);
  }

 private:
  const std::function<void(absl::string_view address)> last_;
};

absl::StatusOr<std::unique_ptr<ProcessGroup>> Connect(KeyValueStore& store, int rank, absl::Duration deadline,
                                                      absl::Duration note_after = absl::Seconds(10)) {
  ConnectOptions options = {rank, 2, &store, "start", Communication::kTcp, std::string(kHosts[rank]), "", deadline};
  options.note_after = note_after;
  return ConnectProcessGroup(options);
}

int Gather(const absl::StatusOr<std::unique_ptr<ProcessGroup>>& group) {
  if (!group.ok()) {
    std::printf("%s\n", group.status().ToString().c_str());
    return kWrong;
  }
  const std::byte mine{static_cast<unsigned char>((*group)->rank() + 1)};
  std::byte all[2];
  const absl::Status status = (*group)->AllGather({&mine, 1}, absl::MakeSpan(all), "ranks");
  return status.ok() && all[0] == std::byte{1} && all[1] == std::byte{2} ? 0 : kWrong;
}

// A port of rank 0's host that refuses until somebody listens there.
class RefusingPort {
 public:
  RefusingPort() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, kHosts[0].data(), &address.sin_addr);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = address.sin_port;
  }
  ~RefusingPort() { close(fd_); }
  in_port_t port() const { return port_; }

  // Listens, and passes on what one connection to it and `address` say to each other.
  void Relay(const sockaddr_in& address) {
    listen(fd_, 1);
    const int ends[2] = {accept(fd_, nullptr, nullptr), socket(AF_INET, SOCK_STREAM, 0)};
    if (connect(ends[1], reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return;
    pollfd ready[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
    while (poll(ready, 2, -1) > 0) {
      for (int from : {0, 1}) {
        if (ready[from].revents == 0) continue;
        char bytes[4096];
        const ssize_t count = read(ends[from], bytes, sizeof(bytes));
        if (count <= 0 || write(ends[1 - from], bytes, count) != count) return;
      }
    }
  }

 private:
  const int fd_;
  in_port_t port_ = 0;
};

TEST(ConnectTest, AnAddressThatRefusesAtFirstIsTriedAgain) {
  TestFolder folder;
  RefusingPort port;
  Processes processes(3, [&](int rank) {
    if (rank == 2) {
      FolderStore store(folder.path());
      auto text = store.Get("start/gloo/0", kDeadline);
      if (!text.ok()) return kWrong;
      sockaddr_in address;
      std::memcpy(&address, absl::HexStringToBytes(*text).data(), sizeof(address));
      absl::SleepFor(absl::Seconds(1));
      port.Relay(address);
      return 0;
    }
    OtherAddressStore store(folder.path(), 0, [&](sockaddr_in& address) { address.sin_port = port.port(); });
    return Gather(Connect(store, rank, kDeadline));
  });
  EXPECT_EQ(processes.Wait(0), 0);
  EXPECT_EQ(processes.Wait(1), 0);
}

TEST(ConnectTest, TheDeadlineNamesWhomNobodyReaches) {
  TestFolder folder;
  RefusingPort port;
  Processes processes(2, [&](int rank) {
    OtherAddressStore store(folder.path(), 0, [&](sockaddr_in& address) { address.sin_port = port.port(); });
    const absl::Status status = Connect(store, rank, kShortDeadline).status();
    bool good = absl::IsUnavailable(status);
    const std::string message(status.message());
    if (rank == 0) {
      good &= ExpectIn("no connection with rank 1 at 127.0.0.2:", message);
    } else {
      good &=
          ExpectIn(absl::StrCat("no connection with rank 0 at 127.0.0.1:", ntohs(port.port()), " (Connection refused)"),
                   message);
    }
    return good ? 0 : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

TEST(ConnectTest, AnErrorThatDoesNotPassEndsAtOnce) {
  TestFolder folder;
  Processes processes(2, [&](int rank) {
    OtherAddressStore store(folder.path(), 0, [](sockaddr_in& address) { address.sin_family = AF_UNSPEC; });
    if (rank == 0) return Connect(store, rank, kShortDeadline).ok() ? kWrong : 0;
    const absl::Status status = Connect(store, rank, kDeadline).status();
    return ExpectIn("rank 1 of 2 cannot connect to rank 0", status.message()) &&
                   ExpectIn("address family mismatch", status.message())
               ? 0
               : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

// Rank `dies` has said where it listens, and is gone: the others hear it when nobody listens there any more.
void LoseBeforeItConnects(int dies) {
  TestFolder folder;
  FolderStore store(folder.path());
  Processes processes(2, [&](int rank) {
    if (rank == dies) {
      LastWordsStore last(folder.path(),
                          [&](absl::string_view address) { _exit(store.Set("last", address).ok() ? kGone : kWrong); });
      (void)Connect(last, rank, kDeadline);
      return kWrong;
    }
    MortalStore mortal(folder.path());
    const absl::Status status = Connect(mortal, rank, kDeadline).status();
    return absl::IsUnavailable(status) && ExpectIn("the other rank is lost", status.message()) ? 0 : kWrong;
  });
  ASSERT_EQ(processes.Wait(dies), kGone);
  auto address = store.Get("last", kDeadline);
  ASSERT_TRUE(address.ok() && store.Set(absl::StrCat("start/gloo/", dies), *address).ok());
  absl::SleepFor(absl::Milliseconds(300));  // the other waits for it by now
  ASSERT_TRUE(store.Set("dead", "").ok());
  EXPECT_EQ(processes.Wait(1 - dies), 0);
}

TEST(ConnectTest, WhoWaitsForAConnectionHearsThatTheRankIsLost) { LoseBeforeItConnects(1); }
TEST(ConnectTest, WhoConnectsInVainHearsThatTheRankIsLost) { LoseBeforeItConnects(0); }

TEST(ConnectTest, LongWaitsAreInTheLog) {
  TestFolder folder;
  Processes processes(1, [&](int rank) {
    FolderStore store(folder.path());
    LogCapture log;
    const absl::Duration note_after = absl::Milliseconds(100);
    // Nobody says anything.
    const absl::Status silent = Connect(store, rank, kShortDeadline, note_after).status();
    bool good = absl::IsDeadlineExceeded(silent);
    good &= ExpectIn("rank 0 of 2: rank 1 has not said where it listens within 1s", silent.message());
    good &= ExpectIn("still waiting for rank 1 to say where it listens.", log.Text());
    return good ? 0 : kWrong;
  });
  EXPECT_EQ(processes.WaitAll(), 0);
}

TEST(ConnectTest, LongWaitsForAConnectionAreInTheLog) {
  TestFolder folder;
  Processes processes(2, [&](int rank) {
    FolderStore store(folder.path());
    if (rank == 1) {
      LastWordsStore last(folder.path(), [&](absl::string_view address) {
        (void)store.Set("start/gloo/1", address);
        absl::SleepFor(kDeadline);
      });
      (void)Connect(last, rank, kDeadline);
      return kWrong;
    }
    LogCapture log;
    (void)Connect(store, rank, kShortDeadline, absl::Milliseconds(100));
    return ExpectIn("Connecting rank 0 of 2 has taken ", log.Text()) &&
                   ExpectIn("still waiting for rank 1 at 127.0.0.2:", log.Text())
               ? 0
               : kWrong;
  });
  EXPECT_EQ(processes.Wait(0), 0);
}

}  // namespace
}  // namespace tandem
