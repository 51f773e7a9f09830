// What all transports have in common, with real processes: the bits of collectives.
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "gtest/gtest.h"
#include "runtime/collectives/connect.h"
#include "runtime/collectives/testing/folder_store.h"
#include "runtime/collectives/testing/processes.h"
#include "runtime/collectives/testing/values.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using format::ReduceKind;

// The bits of one rank in a group of its own process. Each method prints what is wrong.
class Rank {
 public:
  explicit Rank(std::unique_ptr<ProcessGroup> group, bool ring) : group_(std::move(group)), ring_(ring) {}

  int errors() const { return errors_; }
  int size() const { return group_->size(); }

  void Check(bool good, const std::string& what) {
    if (good) return;
    ++errors_;
    std::printf("rank %d of %d: %s\n", group_->rank(), size(), what.c_str());
  }
  void CheckOk(const absl::Status& status, const std::string& what) { Check(status.ok(), what + status.ToString()); }

  // A vector in `lengths.size()` pieces, which lie apart and between guards.
  template <typename T>
  void AllReduce(ReduceKind kind, const std::vector<int64_t>& lengths, const std::vector<bool>& here) {
    const int64_t count = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    const std::string what = absl::StrCat("all-reduce of ", count, " ", Name(DTypeOf<T>::value), " in ", lengths.size(),
                                          kind == ReduceKind::kMax ? " pieces, max" : " pieces, sum");
    const bool special = kind == ReduceKind::kMax;
    const std::unique_ptr<bool[]> present(new bool[here.size()]);
    for (size_t r = 0; r < here.size(); ++r) present[r] = here[r];
    const auto span = absl::MakeConstSpan(present.get(), here.size());
    const bool anybody = std::find(here.begin(), here.end(), true) != here.end();
    const uint64_t salt = ++calls_;
    const std::vector<T> mine = TestVector<T>(salt, group_->rank(), count, special);
    std::vector<std::vector<T>> pieces;
    std::vector<ProcessGroup::Values> values;
    for (int64_t begin = 0; int64_t n : lengths) {
      pieces.emplace_back(n + 2, T(77));
      std::copy(mine.begin() + begin, mine.begin() + begin + n, pieces.back().begin() + 1);
      begin += n;
    }
    for (auto& p : pieces) values.push_back({DTypeOf<T>::value, p.data() + 1, static_cast<int64_t>(p.size()) - 2});
    int64_t reported = 0;  // elements of the result, and what they were
    uint64_t digest = 0;
    CheckOk(group_->AllReduce(kind, values, span, what,
                              [&](const void* part, int64_t n) {
                                reported += n;
                                digest += Digest(static_cast<const T*>(part), n);
                              }),
            what + ": ");
    const std::vector<T> want = anybody ? ReducedTestVector<T>(salt, kind, span, count, special) : mine;
    uint64_t all = 0;
    for (const auto& p : pieces) all += Digest(p.data() + 1, static_cast<int64_t>(p.size()) - 2);
    if (anybody && size() > 1) Check(reported == count && digest == all, what + ": another result was reported");
    int64_t begin = 0, wrong = 0;
    for (auto& p : pieces) {
      const int64_t n = p.size() - 2;
      Check(p.front() == T(77) && p.back() == T(77), what + ": wrote outside");
      for (int64_t i = 0; i < n; ++i) wrong += !Same(p[i + 1], want[begin + i]);
      begin += n;
    }
    Check(wrong == 0, absl::StrCat(what, ": ", wrong, " elements differ"));
  }

  // Sums of small whole numbers in bfloat16, which are exact in every order.
  void AllReduceBFloat16(int64_t count, const std::vector<bool>& here) {
    const auto number = [](int rank, int64_t i) { return static_cast<float>((i * 7 + rank * 5) % 15 - 7); };
    const uint16_t guard = ToBFloat16Bits(77);
    std::vector<uint16_t> numbers(count + 2, guard);
    for (int64_t i = 0; i < count; ++i) numbers[i + 1] = ToBFloat16Bits(number(group_->rank(), i));
    const std::unique_ptr<bool[]> present(new bool[here.size()]);
    for (size_t r = 0; r < here.size(); ++r) present[r] = here[r];
    const std::string what = absl::StrCat("all-reduce of ", count, " bfloat16");
    CheckOk(group_->AllReduce(ReduceKind::kSum, {{DType::kBFloat16, numbers.data() + 1, count}},
                              absl::MakeConstSpan(present.get(), here.size()), what, nullptr),
            what + ": ");
    Check(numbers.front() == guard && numbers.back() == guard, what + ": wrote outside");
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (size_t r = 0; r < here.size(); ++r) sum += here[r] ? number(static_cast<int>(r), i) : 0;
      wrong += FromBFloat16Bits(numbers[i + 1]) != sum;
    }
    Check(wrong == 0, absl::StrCat(what, ": ", wrong, " elements differ"));
  }

  void AllGather(int64_t bytes) {
    std::vector<uint8_t> mine = Bytes(++calls_, group_->rank(), bytes), all(bytes * size()), want;
    for (int r = 0; r < size(); ++r) {
      const std::vector<uint8_t> theirs = Bytes(calls_, r, bytes);
      want.insert(want.end(), theirs.begin(), theirs.end());
    }
    CheckOk(group_->AllGather(AsBytes(mine), AsBytes(all), "all-gather"), "all-gather: ");
    Check(all == want, absl::StrCat("all-gather of ", bytes, " bytes"));
  }

  void Broadcast(int64_t bytes, int root) {
    std::vector<uint8_t> got = Bytes(++calls_, group_->rank(), bytes), want = Bytes(calls_, root, bytes);
    CheckOk(group_->Broadcast(AsBytes(got), root, "broadcast"), "broadcast: ");
    Check(got == want, absl::StrCat("broadcast of ", bytes, " bytes from rank ", root));
  }

 private:
  // Of numbers in any order.
  template <typename T>
  static uint64_t Digest(const T* numbers, int64_t n) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, numbers + i, sizeof(T));
      bits = (bits + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
      sum += (bits ^ (bits >> 29)) * 0x94d049bb133111eb;
    }
    return sum;
  }

  template <typename T>
  bool Same(T a, T b) const {
    // Gloo's ring adds in another order.
    if (ring_ && a != b) return std::is_floating_point_v<T> && (std::abs(a - b) < 1e13 || (a != a && b != b));
    return ring_ || std::memcmp(&a, &b, sizeof(T)) == 0;
  }
  static std::vector<uint8_t> Bytes(uint64_t salt, int rank, int64_t count) {
    std::vector<uint8_t> bytes(count);
    for (int64_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(TestValue<int32_t>(salt, rank, i, false));
    return bytes;
  }
  static absl::Span<std::byte> AsBytes(std::vector<uint8_t>& v) {
    return {reinterpret_cast<std::byte*>(v.data()), v.size()};
  }

  const std::unique_ptr<ProcessGroup> group_;
  const bool ring_;
  uint64_t calls_ = 0;
  int errors_ = 0;
};

// All here; one of them not: the first, the last, one in the middle; nobody; only one.
std::vector<std::vector<bool>> Presences(int size) {
  std::vector<std::vector<bool>> all = {std::vector<bool>(size, true)};
  for (int absent : {0, size - 1, size / 2}) {
    all.emplace_back(size, true);
    all.back()[absent] = false;
  }
  all.emplace_back(size, false);
  all.emplace_back(size, false);
  all.back()[size / 2] = true;
  return all;
}

template <typename T>
void AllReduceEverything(Rank& rank, const std::vector<int64_t>& counts) {
  for (const std::vector<bool>& present : Presences(rank.size())) {
    for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax}) {
      for (int64_t count : counts) rank.AllReduce<T>(kind, {count}, present);
    }
  }
}

class ProcessGroupTest : public testing::TestWithParam<std::tuple<Communication, int>> {
 protected:
  int size() const { return std::get<1>(GetParam()); }
  bool ring() const { return std::get<0>(GetParam()) == Communication::kRing; }

  // `body` in as many processes, which are a group.
  void Run(const std::function<void(Rank&)>& body) {
    TestFolder folder;
    Processes processes(size(), [&](int rank) {
      FolderStore store(folder.path());
      auto group = ConnectProcessGroup(
          {rank, size(), &store, "start", std::get<0>(GetParam()), "127.0.0.1", "", absl::Seconds(60)});
      if (!group.ok()) {
        std::printf("rank %d: %s\n", rank, group.status().ToString().c_str());
        return 2;
      }
      Rank r(*std::move(group), ring());
      body(r);
      return r.errors() == 0 ? 0 : 1;
    });
    EXPECT_EQ(processes.WaitAll(), 0);
  }
};

TEST_P(ProcessGroupTest, AllReducesHaveTheBitsOfTheTree) {
  Run([](Rank& rank) {
    const std::vector<int64_t> counts = {0, 1, 7, 1000};
    AllReduceEverything<float>(rank, counts);
    AllReduceEverything<double>(rank, counts);
    AllReduceEverything<int32_t>(rank, counts);
    AllReduceEverything<int64_t>(rank, counts);
    AllReduceEverything<float>(rank, {65536});
    AllReduceEverything<int64_t>(rank, {65536});
  });
}

TEST_P(ProcessGroupTest, AllReducesOfManySegments) {
  Run([](Rank& rank) {
    const auto presences = Presences(rank.size());
    rank.AllReduce<float>(ReduceKind::kSum, {3000001}, presences[0]);
    rank.AllReduce<double>(ReduceKind::kMax, {3000001}, presences[3]);
    rank.AllReduce<int32_t>(ReduceKind::kMax, {3000001}, presences[1]);
  });
}

TEST_P(ProcessGroupTest, AllReducesOfBFloat16) {
  Run([](Rank& rank) {
    const auto presences = Presences(rank.size());
    for (int64_t count : {1, 7, 1000, 65537, 3000001}) rank.AllReduceBFloat16(count, presences[0]);
    if (rank.size() > 1) rank.AllReduceBFloat16(1000, presences[1]);  // without rank 0
  });
}

TEST_P(ProcessGroupTest, SeveralVectorsAreOne) {
  Run([](Rank& rank) {
    const auto presences = Presences(rank.size());
    for (int p : {0, 1, 3}) {
      rank.AllReduce<float>(ReduceKind::kSum, {3, 0, 5, 1}, presences[p]);
      rank.AllReduce<double>(ReduceKind::kMax, {1000, 1, 70000, 17, 300000, 0, 64}, presences[p]);
      rank.AllReduce<int64_t>(ReduceKind::kSum, std::vector<int64_t>(100, 9999), presences[p]);
      rank.AllReduce<float>(ReduceKind::kMax, {}, presences[p]);
    }
  });
}

TEST_P(ProcessGroupTest, GathersAndBroadcasts) {
  Run([](Rank& rank) {
    for (int64_t bytes : {0, 1, 13, 4096, 600001, 2500000}) {
      rank.AllGather(bytes);
      for (int root : {0, rank.size() - 1, rank.size() / 2}) rank.Broadcast(bytes, root);
    }
  });
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Communication, int>>& info) {
  const Communication c = std::get<0>(info.param);
  const char* name = c == Communication::kRing ? "ring" : c == Communication::kTcp ? "tcp" : "shared";
  return absl::StrCat(name, std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Tree, ProcessGroupTest,
                         testing::Combine(testing::Values(Communication::kTcp, Communication::kSharedMemory),
                                          testing::Values(1, 2, 3, 4, 5, 8)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Ring, ProcessGroupTest,
                         testing::Combine(testing::Values(Communication::kRing), testing::Values(1, 3)), NameOf);

}  // namespace
}  // namespace tandem
