// A saved position, restored in a fresh iterator, goes on with the same bits.
#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

absl::StatusOr<Element> Scramble(const Element& in) {
  Element out;
  for (const HostTensor& t : in.components) {
    HostTensor u = t.Clone();
    for (int64_t i = 0; i < u.byte_size(); ++i) static_cast<uint8_t*>(u.raw())[i] ^= 0x5a;
    out.components.push_back(u);
  }
  return out;
}

HostTensor Pattern(DType dtype, Shape shape) {
  HostTensor t(dtype, std::move(shape));
  for (int64_t i = 0; i < t.byte_size(); ++i)
    static_cast<uint8_t*>(t.raw())[i] = static_cast<uint8_t>(i * 37 + i / 256);
  return t;
}

// What ends a state whose other bytes are `body`.
std::string Checksum(const std::string& body) {
  const uint64_t checksum = Fingerprint64(body);
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(checksum >> (8 * i)));
  return bytes;
}

// A random pipeline. The same `structure` seed gives the same order of elements, whatever `tuning` says: that chooses
// prefetching and threads only.
Dataset RandomPipeline(uint32_t structure, uint32_t tuning) {
  std::mt19937 rng(structure), tune(tuning);
  auto pick = [&rng](int from, int to) { return std::uniform_int_distribution<int>(from, to)(rng); };
  auto maybe_prefetch = [&tune](Dataset d) {
    int n = std::uniform_int_distribution<int>(-3, 5)(tune);
    return n < 0 ? d : d.Prefetch(n);
  };
  int n = pick(1, 40);
  Dataset d =
      pick(0, 1)
          ? Dataset::Range(n)
          : Dataset::FromTensorSlices({{"x", Pattern(DType::kFloat32, {n, 3})}, {"y", Pattern(DType::kUInt8, {n})}});
  bool batched = false;
  for (int stages = pick(1, 6); stages > 0; --stages) {
    switch (pick(0, 7)) {
      case 0:
        d = d.Shuffle(pick(1, 50),
                      {.seed = static_cast<uint64_t>(pick(0, 9)), .reshuffle_each_iteration = pick(0, 3) > 0});
        break;
      case 1:
        d = d.Repeat(pick(1, 4));
        break;
      case 2: {
        // Explicit, so that a stage before it may leave nothing.
        int threads = std::uniform_int_distribution<int>(0, 3)(tune);
        d = d.Map(Scramble, {.num_parallel_calls = threads, .spec = d.spec()});
        break;
      }
      case 3:
        if (!batched) d = d.Batch(pick(1, 7), {.drop_remainder = d.cardinality() >= 7 && pick(0, 1)});
        batched = true;
        break;
      case 4: {
        int shards = pick(1, 3);
        d = d.Shard(shards, pick(0, shards - 1));
        break;
      }
      case 5:
        d = d.Take(pick(0, 60));
        break;
      case 6:
        d = d.Skip(pick(0, 6));
        break;
      case 7:
        d = d.ShuffleAndRepeat(pick(1, 20), pick(1, 3), {.seed = 4});
        break;
    }
    d = maybe_prefetch(d);
  }
  return d;
}

TEST(IteratorStateTest, RandomPipelinesResumeExactly) {
  std::mt19937 rng(12);
  int64_t compared = 0;
  for (uint32_t p = 0; p < 300; ++p) {
    Dataset d = RandomPipeline(p, 2 * p);
    ASSERT_TRUE(d.status().ok()) << d.status();
    SCOPED_TRACE(d.Signature());
    std::vector<Element> all = Read(d, 200);
    EXPECT_EQ(d.cardinality() < 200, static_cast<int64_t>(all.size()) < 200);
    std::vector<size_t> positions = {0, all.size(), std::uniform_int_distribution<size_t>(0, all.size())(rng),
                                     std::uniform_int_distribution<size_t>(0, all.size())(rng)};
    for (size_t k : positions) {
      std::unique_ptr<Iterator> first = Make(d);
      ASSERT_EQ(Read(*first, k).size(), k);
      absl::StatusOr<std::string> state = first->SaveState();
      ASSERT_TRUE(state.ok());
      // A fresh pipeline, tuned differently; its iterator may have been used before.
      std::unique_ptr<Iterator> second = Make(RandomPipeline(p, 2 * p + 1));
      Read(*second, k % 3);
      absl::Status status = second->RestoreState(*state);
      ASSERT_TRUE(status.ok()) << status;
      // Saved again at once, then going on: saving must change nothing and be exact after a restore too.
      size_t more = std::min<size_t>(2, all.size() - k);
      EXPECT_TRUE(BitEqual(Read(*second, more), {all.begin() + k, all.begin() + k + more}));
      absl::StatusOr<std::string> again = second->SaveState();
      ASSERT_TRUE(again.ok());
      std::vector<Element> rest(all.begin() + k + more, all.end());
      EXPECT_TRUE(BitEqual(Read(*second, all.size() - k - more), rest));
      ASSERT_TRUE(first->RestoreState(*again).ok());
      EXPECT_TRUE(BitEqual(Read(*first, all.size() - k - more), rest));
      compared += all.size() - k;
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST(IteratorStateTest, EndlessPipelineResumesInALaterEpoch) {
  Dataset d = Dataset::Range(50).ShuffleAndRepeat(20, -1, {.seed = 9}).Batch(8).Prefetch(0);
  std::vector<Element> all = Read(d, 200);
  for (int64_t k : {1, 6, 7, 50, 111, 199}) {
    std::unique_ptr<Iterator> first = Make(d), second = Make(d);
    Read(*first, k);
    ASSERT_TRUE(second->RestoreState(*first->SaveState()).ok());
    EXPECT_TRUE(BitEqual(Read(*second, 200 - k), {all.begin() + k, all.end()}));
  }
}

TEST(IteratorStateTest, StateIsSmallAndHoldsPositionsOnly) {
  Dataset d = Dataset::FromTensorSlices({{"x", Pattern(DType::kFloat32, {6000, 784})}}).Shuffle(5000).Batch(64);
  std::unique_ptr<Iterator> it = Make(d);
  Read(*it, 3);
  std::string state = *it->SaveState();
  EXPECT_LT(state.size(), 2 * 5000 + 200);  // 14 bits a position
  EXPECT_EQ(state.substr(0, 4), "TDIT");
}

// States from another process, byte for byte: what was saved once must be readable by later builds.
constexpr char kGoldenBody[] = {9,           // range: the next position
                                0, 0, 6, 3,  // shuffle: the range has not ended, epoch 0, 6 draws, 3 in the buffer
                                5, 8, 2,     // the buffer
                                0, 0, 1};    // repeat: no pass is over, this one has had elements

TEST(IteratorStateTest, GoldenState) {
  std::string state = absl::StrCat("TDIT\x02\x2f", "range(10) | shuffle(4, seed=7) | repeat | batch");
  state.append(kGoldenBody, sizeof(kGoldenBody));
  state += "\x99\xdc\xb7\x41\x2a\x1f\x69\x9f";
  Dataset d = Dataset::Range(10).Shuffle(4, {.seed = 7}).Repeat(2).Batch(3);
  std::unique_ptr<Iterator> first = Make(d), second = Make(d);
  Read(*first, 2);
  EXPECT_EQ(*first->SaveState(), state);
  ASSERT_TRUE(second->RestoreState(state).ok());
  EXPECT_EQ(Values(Read(*second)), (std::vector<int64_t>{9, 5, 2, 8, 1, 4, 3, 5, 0, 2, 8, 7, 6, 9}));
}

TEST(IteratorStateTest, GoldenStateOfVersion1) {
  std::string state = absl::StrCat("TDIT\x01\x32", "range(10) | shuffle(4, seed=7) | repeat | batch(3)");
  state.push_back(0);  // nothing prefetched
  state.append(kGoldenBody, sizeof(kGoldenBody));
  state += "\x77\x91\xdc\xfe\x48\xcf\x8a\x08";
  Dataset d = Dataset::Range(10).Shuffle(4, {.seed = 7}).Repeat(2).Batch(3);
  std::unique_ptr<Iterator> it = Make(d);
  ASSERT_TRUE(it->RestoreState(state).ok());
  EXPECT_EQ(Values(Read(*it)), (std::vector<int64_t>{9, 5, 2, 8, 1, 4, 3, 5, 0, 2, 8, 7, 6, 9}));
  // Its batches had a size.
  std::unique_ptr<Iterator> other = Make(Dataset::Range(10).Shuffle(4, {.seed = 7}).Repeat(2).Batch(2));
  EXPECT_EQ(other->RestoreState(state).code(), absl::StatusCode::kFailedPrecondition);
}

// Version 1 had prefetched batches in front: they come first, and a state that is saved among them has them too.
TEST(IteratorStateTest, PrefetchedBatchesOfVersion1ComeFirst) {
  std::string state = absl::StrCat("TDIT\x01\x15", "range(9) | batch(2)");
  state[5] = static_cast<char>(state.size() - 6);
  const char kBody[] = {2, 2, 0, 1, 2, 2, 3,  // two batches of two rows were drawn: 0 1 and 2 3
                        4};                   // range: the next position
  state.append(kBody, sizeof(kBody));
  state += Checksum(state);
  for (int prefetch : {0, 3}) {
    Dataset d = Dataset::Range(9).Batch(2);
    if (prefetch > 0) d = d.Prefetch(prefetch);
    std::unique_ptr<Iterator> it = Make(d);
    ASSERT_TRUE(it->RestoreState(state).ok());
    EXPECT_EQ(Values(Read(*it, 1)), (std::vector<int64_t>{0, 1}));
    const std::string among = *it->SaveState();
    EXPECT_EQ(Values(Read(*it, 2)), (std::vector<int64_t>{2, 3, 4, 5}));
    const std::string behind = *it->SaveState();
    EXPECT_EQ(behind[4], 2);
    EXPECT_EQ(Values(Read(*it)), (std::vector<int64_t>{6, 7, 8}));
    ASSERT_TRUE(it->RestoreState(among).ok());
    EXPECT_EQ(Values(Read(*it)), (std::vector<int64_t>{2, 3, 4, 5, 6, 7, 8}));
    std::unique_ptr<Iterator> threes = Make(Dataset::Range(9).Batch(3));
    ASSERT_TRUE(threes->RestoreState(behind).ok());
    EXPECT_EQ(Values(Read(*threes)), (std::vector<int64_t>{6, 7, 8}));
  }
}

// A position is counted in what goes into a batch: other batches go on with the very next example. The expectation is
// the order of single examples, which no Batch has touched.
TEST(IteratorStateTest, AnotherBatchSizeGoesOnWithTheNextExample) {
  struct Case {
    Dataset examples;
    bool drop_remainder;
    int64_t prefetch;
    bool map;
  };
  auto slices = Dataset::FromTensorSlices({{"x", Pattern(DType::kInt64, {37})}});
  for (const Case& c :
       {Case{Dataset::Range(64).Shuffle(10, {.seed = 3}).Repeat(3), false, 0, false},
        Case{Dataset::Range(37).ShuffleAndRepeat(50, -1, {.seed = 1}), false, 4, false},
        Case{slices.Skip(3).Shuffle(7).Repeat(5), false, 3, true},
        Case{Dataset::Range(40).Shuffle(9).Map(Scramble, {.num_parallel_calls = 3}).Repeat(4), true, 2, true},
        Case{Dataset::Range(10).Shuffle(4).Repeat(9).Take(80).Shuffle(5), true, 5, false}}) {
    auto batched = [&c](int64_t size) {
      Dataset d = c.examples.Batch(size, {.drop_remainder = c.drop_remainder});
      if (c.map) d = d.Map(Scramble, {.num_parallel_calls = 2}).Map(Scramble);
      return c.prefetch > 0 ? d.Prefetch(c.prefetch) : d;
    };
    SCOPED_TRACE(batched(2).Signature());
    const std::vector<int64_t> all = Values(c.examples, 72);
    ASSERT_EQ(all.size(), 72u);
    std::vector<int64_t> seen;
    std::string state;
    for (int64_t size : {8, 4, 2, 6, 1, 8}) {
      std::unique_ptr<Iterator> it = Make(batched(size));
      if (!state.empty()) {
        ASSERT_TRUE(it->RestoreState(state).ok());
      }
      for (int64_t value : Values(Read(*it, 12 / size))) seen.push_back(value);
      state = *it->SaveState();
    }
    EXPECT_EQ(seen, std::vector<int64_t>(all.begin(), all.begin() + seen.size()));
    EXPECT_EQ(seen.size(), 8u + 12 * 4 + 8);
  }
}

// Whoever has drawn them, and whatever drawing costs.
TEST(IteratorStateTest, ARemainderThatWasDroppedIsNotLost) {
  for (const bool costly : {false, true}) {
    for (const int threads : {0, 1}) {
      auto dataset = [&](int64_t size) {
        const auto all = [](const Element&) -> absl::StatusOr<bool> { return true; };
        const Dataset source = costly ? Dataset::Range(210).Filter(all) : Dataset::Range(210);
        const Dataset d = source.Batch(size, {.drop_remainder = true});
        return threads > 0 ? d.Prefetch(8) : d;
      };
      std::unique_ptr<Iterator> fours = Make(dataset(4)), twos = Make(dataset(2));
      EXPECT_EQ(Values(Read(*fours)).size(), 208u);  // and the end, behind 208 and 209
      ASSERT_TRUE(twos->RestoreState(*fours->SaveState()).ok());
      EXPECT_EQ(Values(Read(*twos)), (std::vector<int64_t>{208, 209})) << costly << threads;
      // The same when what was restored ends at once.
      std::unique_ptr<Iterator> again = Make(dataset(4)), rest = Make(dataset(2));
      ASSERT_TRUE(again->RestoreState(*fours->SaveState()).ok());
      EXPECT_TRUE(Read(*again).empty());
      EXPECT_EQ(*again->SaveState(), *fours->SaveState());
      ASSERT_TRUE(rest->RestoreState(*again->SaveState()).ok());
      EXPECT_EQ(Values(Read(*rest)), (std::vector<int64_t>{208, 209})) << costly << threads;
    }
  }
}

// Training longer than planned is a resume, also where a stage behind Repeat has seen its end.
TEST(IteratorStateTest, MoreEpochsGoOnBehindAStageThatHasSeenTheEnd) {
  using Stage = std::function<Dataset(const Dataset&)>;
  const auto length = [](const Element& e) -> absl::StatusOr<int64_t> { return *e.components[0].data<int64_t>() % 3; };
  const auto three = [](const Element& e) -> absl::StatusOr<Dataset> {
    const int64_t i = *e.components[0].data<int64_t>();
    return Dataset::FromTensorSlices({{"value", HostTensor::FromVector<int64_t>({3}, {i, i, i})}});
  };
  const std::vector<std::pair<const char*, Stage>> stages = {
      {"shuffle", [](const Dataset& d) { return d.Shuffle(3); }},
      {"two shuffles", [](const Dataset& d) { return d.Shuffle(3).Shuffle(4); }},
      {"padded batch", [](const Dataset& d) { return d.PaddedBatch(3); }},
      {"buckets",
       [&](const Dataset& d) {
         return d.BucketBySequenceLength(length, {1, 2}, {3, 2, 4});
       }},
      {"window", [](const Dataset& d) { return d.Window({.size = 3, .drop_remainder = true}); }},
      {"flat map", [&](const Dataset& d) { return d.FlatMap(three); }},
      {"interleave", [&](const Dataset& d) { return d.Interleave(three, {.cycle_length = 4, .block_length = 2}); }},
      {"zip",
       [](const Dataset& d) {
         return Dataset::Zip(
                    {d, d.Map([](const Element& e) -> absl::StatusOr<Element> { return e; }, {.names = {"other"}})})
             .Shuffle(2);
       }},
      {"concatenate", [](const Dataset& d) { return Dataset::Range(2).Concatenate(d).Shuffle(4); }},
      {"batch", [](const Dataset& d) { return d.Batch(3); }},
  };
  const auto sorted = [](std::vector<int64_t> values) {
    std::sort(values.begin(), values.end());
    return values;
  };
  for (const auto& [name, stage] : stages) {
    SCOPED_TRACE(name);
    const auto dataset = [&stage](int64_t epochs) { return stage(Dataset::Range(5).Repeat(epochs)); };
    const size_t planned = Read(dataset(2)).size();
    const std::vector<int64_t> all = Values(dataset(3));
    for (const size_t k : {size_t{0}, planned / 2, planned - 2, planned - 1, planned, planned + 1}) {  // and the end
      for (const int ahead : {0, 4}) {
        std::unique_ptr<Iterator> two = Make(ahead > 0 ? dataset(2).Prefetch(ahead) : dataset(2));
        std::vector<int64_t> values = Values(Read(*two, k));
        const std::string state = *two->SaveState();
        std::unique_ptr<Iterator> three = Make(ahead > 0 ? dataset(3).Prefetch(ahead) : dataset(3));
        ASSERT_TRUE(three->RestoreState(state).ok());
        EXPECT_EQ(*three->SaveState(), state) << k;
        const std::vector<int64_t> more = Values(Read(*three));
        values.insert(values.end(), more.begin(), more.end());
        EXPECT_EQ(sorted(values), sorted(all)) << k << " " << ahead;
        // As many as planned are still an exact resume.
        std::unique_ptr<Iterator> same = Make(dataset(2));
        ASSERT_TRUE(same->RestoreState(state).ok());
        EXPECT_EQ(Read(*same).size(), planned - std::min(k, planned)) << k;
      }
    }
  }
}

TEST(IteratorStateTest, AnotherBatchSizeKeepsTheEndOfAnEpoch) {
  auto dataset = [](int64_t size) { return Dataset::Range(8).Batch(size).Repeat(3).Prefetch(8); };
  std::unique_ptr<Iterator> fours = Make(dataset(4)), threes = Make(dataset(3));
  Read(*fours, 3);
  ASSERT_TRUE(threes->RestoreState(*fours->SaveState()).ok());
  EXPECT_EQ(Batches(Read(*threes)), (std::vector<std::vector<int64_t>>{{4, 5, 6}, {7}, {0, 1, 2}, {3, 4, 5}, {6, 7}}));
}

// However much is prefetched, a position has one state.
TEST(IteratorStateTest, APositionHasOneState) {
  const Dataset d = Dataset::Range(50).Shuffle(20).Repeat().Batch(8);
  std::unique_ptr<Iterator> plain = Make(d), ahead = Make(d.Prefetch(9));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(*plain->SaveState(), *ahead->SaveState()) << i;
    Read(*plain, 1);
    Read(*ahead, 1);
  }
}

// A stage behind Batch that counts or keeps batches makes their size part of the position.
TEST(IteratorStateTest, CountedBatchesKeepTheirSize) {
  using Stage = Dataset (*)(const Dataset&);
  for (Stage stage :
       {Stage([](const Dataset& d) { return d.Shuffle(3); }), Stage([](const Dataset& d) { return d.Take(5); }),
        Stage([](const Dataset& d) { return d.Skip(1).Repeat(2).Prefetch(2); }),
        Stage([](const Dataset& d) { return d.Shard(2, 1); }),
        Stage([](const Dataset& d) { return d.Map(Scramble).Batch(2); })}) {
    std::unique_ptr<Iterator> twos = Make(stage(Dataset::Range(24).Batch(2)));
    std::unique_ptr<Iterator> threes = Make(stage(Dataset::Range(24).Batch(3)));
    Read(*twos, 2);
    EXPECT_EQ(threes->RestoreState(*twos->SaveState()).code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST(FingerprintTest, TellsContentsApart) {
  const auto dataset = [](int64_t rows, int64_t changed_row, const char* name = "x") {
    HostTensor t = Pattern(DType::kFloat32, {rows, 4});
    // A row and all behind it, as when another file is read.
    for (int64_t i = 16 * changed_row; i < t.byte_size(); ++i) static_cast<uint8_t*>(t.raw())[i] ^= 1;
    return Dataset::FromTensorSlices({{name, t}});
  };
  for (int64_t rows : {100, 50000}) {
    const std::string same = dataset(rows, rows).Fingerprint();
    EXPECT_EQ(dataset(rows, rows).Shuffle(5).Repeat().Batch(8).Map(Scramble).Prefetch().Fingerprint(), same);
    for (int64_t row : {int64_t{0}, rows / 2, rows * 9 / 10, rows - 1}) {
      EXPECT_NE(dataset(rows, row).Fingerprint(), same) << rows << " " << row;
    }
    EXPECT_NE(dataset(rows - 1, rows - 1).Fingerprint(), same);
    EXPECT_NE(dataset(rows, rows, "y").Fingerprint(), same);
  }
  EXPECT_NE(Dataset::Range(3).Fingerprint(), Dataset::Range(4).Fingerprint());
  EXPECT_EQ(Dataset::Range(-1).Fingerprint(), "");
}

// Rows that are still being read: no more of them are waited for than a first batch needs.
TEST(FingerprintTest, WaitsForTheFirstRowsAlone) {
  int64_t waited = 0;
  const auto wait = [&waited](int64_t rows) {
    waited = std::max(waited, rows);
    return rows > 1000 ? absl::DataLossError("cut short") : absl::OkStatus();
  };
  const std::string first = Dataset::FromTensorSlices({{"x", Pattern(DType::kFloat32, {5000, 4})}}, wait).Fingerprint();
  EXPECT_NE(first, "");
  EXPECT_LE(waited, 64);
  EXPECT_GT(waited, 0);
  const auto broken = [](int64_t) { return absl::DataLossError("damaged"); };
  EXPECT_EQ(Dataset::FromTensorSlices({{"x", Pattern(DType::kFloat32, {5000, 4})}}, broken).Fingerprint(), "");
}

TEST(IteratorStateTest, MoreEpochsThanPlannedGoOn) {
  Dataset two = Dataset::Range(5).Shuffle(5).Repeat(2), three = Dataset::Range(5).Shuffle(5).Repeat(3);
  std::unique_ptr<Iterator> first = Make(two), second = Make(three);
  EXPECT_EQ(Read(*first).size(), 10u);
  std::string state = *first->SaveState();
  ASSERT_TRUE(second->RestoreState(state).ok());
  std::vector<int64_t> all = Values(three);
  EXPECT_EQ(Values(Read(*second)), std::vector<int64_t>(all.begin() + 10, all.end()));
  // Fewer epochs are simply over.
  std::unique_ptr<Iterator> third = Make(Dataset::Range(5).Shuffle(5).Repeat(1));
  ASSERT_TRUE(third->RestoreState(state).ok());
  EXPECT_TRUE(Read(*third).empty());
}

TEST(IteratorStateTest, StateOfAnotherPipelineIsRefused) {
  Dataset d = Dataset::Range(10).Shuffle(5, {.seed = 1}).Batch(2);
  std::unique_ptr<Iterator> it = Make(d);
  Read(*it, 2);
  std::string state = *it->SaveState();
  for (const Dataset& other :
       {Dataset::Range(11).Shuffle(5, {.seed = 1}).Batch(2), Dataset::Range(10).Shuffle(6, {.seed = 1}).Batch(2),
        Dataset::Range(10).Shuffle(5, {.seed = 2}).Batch(2),
        Dataset::Range(10).Shuffle(5, {.seed = 1}).Batch(2, {.drop_remainder = true}),
        Dataset::Range(10).Shuffle(5, {.seed = 1, .reshuffle_each_iteration = false}).Batch(2),
        Dataset::Range(10).Shuffle(5, {.seed = 1}), Dataset::Range(10).Shuffle(5, {.seed = 1}).Batch(2).Repeat(),
        Dataset::Range(10).Take(10).Shuffle(5, {.seed = 1}).Batch(2), Dataset::Range(10).Batch(2)}) {
    std::unique_ptr<Iterator> fresh = Make(other);
    absl::Status status = fresh->RestoreState(state);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), d.Signature())) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), other.Signature())) << status;
    EXPECT_TRUE(BitEqual(Read(*fresh, 3), Read(other, 3)));  // left where it was
  }
}

TEST(IteratorStateTest, EveryDamagedByteAndLengthIsNoticed) {
  Dataset d = Dataset::Range(300).Shuffle(20).Repeat(2).Batch(4).Prefetch(2);
  std::unique_ptr<Iterator> it = Make(d);
  Read(*it, 5);
  const std::string state = *it->SaveState();
  std::vector<Element> rest = Read(*it);
  std::unique_ptr<Iterator> victim = Make(d);
  ASSERT_TRUE(victim->RestoreState(state).ok());
  for (size_t i = 0; i < state.size(); ++i) {
    std::string damaged = state;
    damaged[i] ^= 1 << (i % 8);
    EXPECT_EQ(victim->RestoreState(damaged).code(), absl::StatusCode::kDataLoss) << i;
    EXPECT_EQ(victim->RestoreState(state.substr(0, i)).code(), absl::StatusCode::kDataLoss) << i;
  }
  EXPECT_EQ(victim->RestoreState(state + "x").code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(BitEqual(Read(*victim), rest));
}

// With a forged checksum the numbers themselves must be checked: no position outside the source is ever read.
TEST(IteratorStateTest, ForgedStatesDoNoHarm) {
  Dataset d = Dataset::FromTensorSlices({{"x", Pattern(DType::kFloat32, {30, 4})}})
                  .Skip(2)
                  .Shuffle(8)
                  .Repeat(3)
                  .Batch(4)
                  .Shuffle(3)
                  .Prefetch(2);
  std::unique_ptr<Iterator> it = Make(d);
  Read(*it, 5);
  const std::string state = *it->SaveState();
  std::mt19937 rng(5);
  int refused = 0, accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string body = state.substr(0, state.size() - 8);
    size_t first = 6 + d.Signature().size();
    size_t at = std::uniform_int_distribution<size_t>(first, body.size() - 1)(rng);
    switch (round % 4) {
      case 0:
        body[at] = static_cast<char>(rng());
        break;
      case 1:
        body.resize(at);
        break;
      case 2:
        body.insert(at, std::string(1 + rng() % 10, static_cast<char>(rng())));
        break;
      case 3:
        body.replace(at, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
        break;
    }
    body += Checksum(body);
    std::unique_ptr<Iterator> victim = Make(d);
    absl::Status status = victim->RestoreState(body);
    if (status.ok()) {
      ++accepted;
      for (const Element& e : Read(*victim, 100)) EXPECT_EQ(e.components[0].shape()[1], 4);
    } else {
      ++refused;
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 0);
}

TEST(IteratorStateTest, AnotherVersionIsRefused) {
  std::unique_ptr<Iterator> it = Make(Dataset::Range(3));
  std::string body = *it->SaveState();
  body.resize(body.size() - 8);
  body[4] = 3;
  body += Checksum(body);
  absl::Status status = it->RestoreState(body);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "version 3; this build reads versions 1 and 2")) << status;
}

}  // namespace
}  // namespace tandem
