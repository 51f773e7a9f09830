#include "data/epoch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

EpochLength Of(const Dataset& dataset) {
  const absl::StatusOr<EpochLength> epoch = EpochOf(dataset);
  EXPECT_TRUE(epoch.ok()) << dataset.Signature() << ": " << epoch.status();
  return epoch.value_or(EpochLength());
}

bool Even(const Element& e) { return e.components[0].values<int64_t>()[0] % 2 == 0; }

TEST(EpochOf, IsAPassOverWhatTheLastRepeatRepeats) {
  const Dataset ten = Dataset::Range(10);
  EXPECT_EQ(Of(ten), (EpochLength{10, 1}));
  EXPECT_EQ(Of(ten.Repeat()), (EpochLength{10, 1}));
  EXPECT_EQ(Of(ten.Repeat(3).Shuffle(4).Prefetch(2)), (EpochLength{10, 1}));
  EXPECT_EQ(Of(ten.Repeat(3).Repeat()), (EpochLength{30, 1}));
  EXPECT_EQ(Of(ten.Take(4).Repeat()), (EpochLength{4, 1}));
  EXPECT_EQ(Of(ten.Repeat().Take(25)), (EpochLength{10, 1}));
  EXPECT_EQ(Of(ten.ShuffleAndRepeat(4)), (EpochLength{10, 1}));
}

// Batches of 4: 10 examples are 3 of them, or 2 with drop_remainder, where each epoch has its own; where batches hold
// examples of two epochs, they are 10 / 4.
TEST(EpochOf, CountsBatches) {
  const Dataset ten = Dataset::Range(10);
  EXPECT_EQ(Of(ten.Batch(4)), (EpochLength{3, 1}));
  EXPECT_EQ(Of(ten.Batch(4).Repeat()), (EpochLength{3, 1}));
  EXPECT_EQ(Of(ten.Batch(4, {.drop_remainder = true}).Repeat()), (EpochLength{2, 1}));
  EXPECT_EQ(Of(ten.Repeat().Batch(4)), (EpochLength{10, 4}));
  EXPECT_EQ(Of(ten.Repeat().PaddedBatch(4)), (EpochLength{10, 4}));
  EXPECT_EQ(Of(ten.Repeat().Shard(2, 1).Batch(4)), (EpochLength{10, 8}));
}

TEST(EpochOf, OfSeveralDatasets) {
  const Dataset a = Dataset::Range(10).Enumerate(0, "a"),
                b = Dataset::Range(10).Map([](const Element&e) { return e; }, {.names = {"b"}});
  EXPECT_EQ(Of(Dataset::Zip({a, b}).Repeat()), (EpochLength{10, 1}));
  EXPECT_EQ(Of(Dataset::Zip({a.Repeat(), b.Repeat()})), (EpochLength{10, 1}));
  EXPECT_FALSE(EpochOf(Dataset::Zip({a.Repeat(), b.Take(3).Repeat()})).ok());
  EXPECT_EQ(Of(b.Concatenate(b).Repeat()), (EpochLength{20, 1}));
  EXPECT_FALSE(EpochOf(b.Repeat(2).Concatenate(b)).ok());
}

TEST(EpochOf, SaysWhenItCannotBeKnown) {
  const Dataset ten = Dataset::Range(10);
  for (const Dataset& unknown :
       {ten.Filter(Even).Repeat(), ten.Repeat().Filter(Even), ten.Filter(Even), ten.Repeat().Window({.size = 2}),
        ten.Repeat(2).Batch(2).Unbatch(), ten.Batch(2).Unbatch().Repeat()}) {
    const absl::StatusOr<EpochLength> epoch = EpochOf(unknown);
    EXPECT_EQ(epoch.status().code(), absl::StatusCode::kInvalidArgument) << unknown.Signature();
    EXPECT_THAT(std::string(epoch.status().message()), HasSubstr("cannot be known before the data are read"));
  }
  EXPECT_THAT(std::string(EpochOf(ten.Take(0).Repeat()).status().message()), HasSubstr("no elements"));
  EXPECT_THAT(std::string(EpochOf(ten.Batch(0)).status().message()), HasSubstr("at least 1"));
}

}  // namespace
}  // namespace tandem
