#include "passes/shard_sizes.h"

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(ShardSizesTest, PowerOfTwoSplitsOfOneBatchHaveTheSameLanes) {
  for (int64_t global : {64, 128, 512, 1024}) {
    ShardSizes one = ChooseShardSizes(global, 1, 0, 0);
    for (int64_t replicas : {2, 4, 8}) {
      ShardSizes many = ChooseShardSizes(global / replicas, replicas, 0, 0);
      EXPECT_EQ(many.lanes, one.lanes) << global << " over " << replicas;
      EXPECT_EQ(many.rows_per_lane, one.rows_per_lane);
      EXPECT_EQ(many.shard_rows, one.shard_rows);
    }
  }
}

TEST(ShardSizesTest, LanesHoldTheBatchInWholeShards) {
  for (int64_t replicas : {1, 2, 3, 4, 6, 7}) {
    for (int64_t batch = 1; batch <= 700; batch += 23) {
      ShardSizes s = ChooseShardSizes(batch, replicas, 0, 0);
      EXPECT_EQ(s.lanes % replicas, 0);
      EXPECT_GE(s.lanes / replicas * s.rows_per_lane, batch);
      EXPECT_EQ(s.rows_per_lane % s.shard_rows, 0);
      EXPECT_LE(s.shard_rows, 32);
    }
  }
}

TEST(ShardSizesTest, TakesWhatTheUserAskedFor) {
  ShardSizes s = ChooseShardSizes(100, 2, 4, 10);
  EXPECT_EQ(s.lanes, 4);
  EXPECT_EQ(s.shard_rows, 10);
  EXPECT_EQ(s.rows_per_lane, 50);
}

}  // namespace
}  // namespace tandem
