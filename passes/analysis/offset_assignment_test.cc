#include "passes/analysis/offset_assignment.h"

#include <random>

#include "gtest/gtest.h"

namespace tandem {
namespace {

void ExpectValid(const std::vector<LiveRange>& ranges, const ArenaPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0);
    EXPECT_LE(plan.offsets[i] + ranges[i].bytes, plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool in_time = ranges[i].first <= ranges[j].last && ranges[j].first <= ranges[i].last;
      bool in_space =
          plan.offsets[i] < plan.offsets[j] + ranges[j].bytes && plan.offsets[j] < plan.offsets[i] + ranges[i].bytes;
      EXPECT_FALSE(in_time && in_space) << "ranges " << i << " and " << j;
    }
  }
}

TEST(OffsetAssignmentTest, ReusesSpaceOfDeadBuffers) {
  std::vector<LiveRange> ranges = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}};
  ArenaPlan plan = AssignOffsets(ranges);
  ExpectValid(ranges, plan);
  EXPECT_EQ(plan.bytes, 2048);
  EXPECT_EQ(PeakLiveBytes(ranges), 2048);
}

TEST(OffsetAssignmentTest, EmptyAndZeroSizes) {
  EXPECT_EQ(AssignOffsets({}).bytes, 0);
  std::vector<LiveRange> ranges = {{0, 0, 3}, {64, 1, 2}};
  ExpectValid(ranges, AssignOffsets(ranges));
}

TEST(OffsetAssignmentTest, RandomPlansNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<LiveRange> ranges(1 + random() % 40);
    for (LiveRange& r : ranges) {
      r.bytes = random() % 5000;
      r.first = random() % 30;
      r.last = r.first + random() % 10;
    }
    ArenaPlan plan = AssignOffsets(ranges);
    ExpectValid(ranges, plan);
    EXPECT_GE(plan.bytes, PeakLiveBytes(ranges));
  }
}

}  // namespace
}  // namespace tandem
