#include "runtime/commands/lane_count.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

TEST(LaneCountTest, APowerOfTwoTimesTheOddPartOfTheDevices) {
  for (int64_t lanes : {0, 1, 2, 16, 1 << 20}) EXPECT_TRUE(CheckLaneCount(lanes, 1).ok()) << lanes;
  for (int64_t lanes : {0, 1, 2, 16}) EXPECT_TRUE(CheckLaneCount(lanes, 4).ok()) << lanes;
  for (int64_t lanes : {0, 3, 6, 48}) EXPECT_TRUE(CheckLaneCount(lanes, 6).ok()) << lanes;
  for (int64_t lanes : {-1, 3, 6, 1 << 21}) EXPECT_FALSE(CheckLaneCount(lanes, 2).ok()) << lanes;
  for (int64_t lanes : {1, 2, 9, 16}) EXPECT_FALSE(CheckLaneCount(lanes, 3).ok()) << lanes;
  EXPECT_FALSE(CheckLaneCount(4, 5).ok());
  EXPECT_FALSE(CheckLaneCount(4, 0).ok());
}

TEST(LaneCountTest, SaysWhatIsPossible) {
  EXPECT_THAT(std::string(CheckLaneCount(16, 3).message()),
              HasSubstr("lanes = 16 cannot be had with 3 devices: they must be one of 3, 6, 12, 24 and so on"));
}

}  // namespace
}  // namespace tandem
