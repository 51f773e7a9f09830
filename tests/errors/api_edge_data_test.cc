// base/host_tensor.h and data/dataset.h with arguments that they cannot use.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/host_tensor.h"
#include "data/dataset.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

struct Row {
  const char* function;
  const char* argument;
  std::function<absl::Status()> call;
  const char* says = "";
};

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.function) + ", " + row.argument);
    const absl::Status status = row.call();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), row.function)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), row.says)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "api_edge_data_test.cc:")) << status;
  }
}

TEST(DataEdgeTest, HostTensors) {
  constexpr DType kFloat = DType::kFloat32;
  Check({
      {"HostTensor", "no type", [] { return HostTensor(DType::kInvalid, {}).status(); }, "type"},
      {"HostTensor", "a batch",
       [] {
         return HostTensor(kFloat, {kBatch, 3}).status();
       },
       "[-1,3]"},
      {"HostTensor", "a huge shape", [] { return HostTensor(kFloat, {kHuge}).status(); }, "memory"},
      {"HostTensor", "an overflow",
       [] {
         return HostTensor::Zeros(kFloat, {kHuge, kHuge, kHuge}).status();
       }},
      {"FromVector", "nothing", [] { return HostTensor::FromVector<float>({2}, {}).status(); }, "2 elements"},
      {"FromVector", "too few",
       [] {
         return HostTensor::FromVector<double>({2, 2}, {1, 2, 3}).status();
       }},
      {"FromVector", "too many",
       [] {
         return HostTensor::FromVector<int32_t>({1}, {1, 2}).status();
       }},
      {"HostTensor", "a negative size", [] { return HostTensor::FromVector<float>({-1}, {1}).status(); }},
      {"Reshaped", "another count", [] { return HostTensor(kFloat, {4}).Reshaped({5}).status(); }},
      {"Reshaped", "negative sizes",
       [] {
         return HostTensor(kFloat, {4}).Reshaped({-2, -2}).status();
       }},
  });
}

TEST(DataEdgeTest, ADefaultMadeHostTensorIsHarmless) {
  HostTensor none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.data<float>(), nullptr);
  EXPECT_EQ(none.raw(), nullptr);
  EXPECT_EQ(none.byte_size(), 0);
  EXPECT_TRUE(none.values<float>().empty());
  EXPECT_TRUE(none.Clone().empty());
  EXPECT_TRUE(none.Reshaped({1}).empty());
  EXPECT_TRUE(none.BitEqual(none.Clone()));
}

absl::StatusOr<Element> Same(const Element& e) { return e; }

TEST(DataEdgeTest, Datasets) {
  using Slices = Dataset::Slices;
  const HostTensor rows = HostTensor::Zeros(DType::kFloat32, {4, 2});
  const Dataset d = Dataset::Range(4);
  Check({
      {"FromTensorSlices", "nothing", [] { return Dataset::FromTensorSlices(Slices()).status(); }},
      {"FromTensorSlices", "an empty tensor",
       [] {
         return Dataset::FromTensorSlices({{"x", HostTensor()}}).status();
       }},
      {"FromTensorSlices", "a name twice",
       [&] {
         return Dataset::FromTensorSlices({{"x", rows}, {"x", rows}}).status();
       }},
      {"Range", "a negative size", [] { return Dataset::Range(-kHuge).status(); }},
      {"Map", "no function", [&] { return d.Map(nullptr).status(); }, "null"},
      {"Map", "negative threads", [&] { return d.Map(Same, {.num_parallel_calls = -1}).status(); }},
      {"Map", "too many threads", [&] { return d.Map(Same, {.num_parallel_calls = 1 << 30}).status(); }},
      {"Map", "names of nothing",
       [&] {
         return d.Map(Same, {.names = {"a", "b"}}).status();
       }},
      {"MapInto", "no function",
       [&] {
         return d.MapInto(nullptr, {.spec = {{"x", DType::kFloat32, {}}}}).status();
       },
       "null"},
      {"MapInto", "no description", [&] { return d.MapInto([](auto&&...) { return absl::OkStatus(); }, {}).status(); }},
      {"Shuffle", "no buffer", [&] { return d.Shuffle(0).status(); }},
      {"Shuffle", "a huge buffer", [&] { return d.Shuffle(kHuge).status(); }},
      {"Repeat", "a negative count", [&] { return d.Repeat(-kHuge).status(); }},
      {"Shuffle", "both", [&] { return d.ShuffleAndRepeat(-1, -7).status(); }},
      {"Batch", "size 0", [&] { return d.Batch(0).status(); }},
      {"Batch", "a huge size", [&] { return d.Batch(kHuge).status(); }},
      {"Prefetch", "a negative size", [&] { return d.Prefetch(-1).status(); }},
      {"Shard", "no shards", [&] { return d.Shard(0, 0).status(); }},
      {"Shard", "no such shard", [&] { return d.Shard(2, kHuge).status(); }},
      {"Take", "a negative count", [&] { return d.Take(-kHuge).status(); }},
      {"Skip", "a negative count", [&] { return d.Skip(-kHuge).status(); }},
  });
}

TEST(DataEdgeTest, LargeNumbersAreNoMistake) {
  Element e;
  bool end = false;
  for (const Dataset& d : {Dataset::Range(kHuge).Skip(kHuge - 1), Dataset::Range(3).Repeat(kHuge).Take(kHuge),
                           Dataset::Range(2).Prefetch(kHuge), Dataset::Range(kHuge).Shard(kHuge, 0)}) {
    absl::StatusOr<std::unique_ptr<Iterator>> it = d.MakeIterator();
    ASSERT_TRUE(it.ok()) << it.status();
    EXPECT_TRUE((*it)->GetNext(&e, &end).ok());
    EXPECT_FALSE(end);
  }
}

TEST(DataEdgeTest, AnIteratorSaysWhatItCannotDo) {
  absl::StatusOr<std::unique_ptr<Iterator>> it = Dataset::Range(2).MakeIterator();
  ASSERT_TRUE(it.ok());
  Element e;
  bool end = false;
  EXPECT_TRUE(absl::StrContains((*it)->GetNext(nullptr, &end).message(), "GetNext"));
  EXPECT_TRUE(absl::StrContains((*it)->GetNext(&e, nullptr).message(), "GetNext"));
  for (absl::string_view state : {"", "x", "not a state of anything at all"}) {
    EXPECT_FALSE((*it)->RestoreState(state).ok()) << state;
  }
  EXPECT_TRUE((*it)->GetNext(&e, &end).ok());
}

}  // namespace
}  // namespace tandem
