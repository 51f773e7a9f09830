#include "passes/phases/memory/memory_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MemoryReportTest, TheFirstOfSeveralPeaksIsShownLargestFirst) {
  const std::vector<LiveRange> ranges = {{10, 0, 2}, {30, 1, 2}, {20, 2, 4}, {40, 4, 6}, {60, 9, 9}};
  EXPECT_THAT(LargestAtPeak(ranges, 10), ElementsAre(1, 2, 0));
  EXPECT_THAT(LargestAtPeak(ranges, 2), ElementsAre(1, 2));
}

TEST(MemoryReportTest, EqualBuffersKeepTheirOrder) {
  EXPECT_THAT(LargestAtPeak({{8, 0, 3}, {16, 0, 3}, {8, 1, 1}, {16, 1, 3}}, 3), ElementsAre(1, 3, 0));
}

TEST(MemoryReportTest, AnEmptyArenaHasNone) { EXPECT_THAT(LargestAtPeak({}, 10), IsEmpty()); }

}  // namespace
}  // namespace tandem
