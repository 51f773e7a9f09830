// base/host_tensor.h and iterators with arguments that they cannot use. Datasets: api_edge_dataset_test.cc.
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
