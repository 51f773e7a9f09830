#include "passes/phases/distribute/microbatch_sizes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::HasSubstr;

MachineModel Machine() { return *BuiltInMachineModel("zen4"); }

// A convolution and its filter gradient with `weights` bytes of weights, `bytes` a row and `flops` a row.
StepWork Convolution(double flops, double bytes, double weights) {
  OpWork forward = {
      .library = true, .flops = flops, .reads = {{bytes, 1e15}}, .written = bytes, .static_bytes = weights};
  OpWork gradient = {.library = true, .flops = flops, .reads = {{bytes, 3 * bytes}}, .sum_bytes = weights};
  return {.ops = {forward, gradient}, .row_bytes = bytes, .static_bytes = weights, .lane_bytes = weights};
}

MicrobatchSizes Choose(int64_t batch, int64_t replicas, const StepWork& work = {}, int64_t lanes = 0,
                       int64_t microbatch_rows = 0) {
  return ChooseMicrobatchSizes(batch, replicas, lanes, microbatch_rows, work, Machine());
}

TEST(MicrobatchSizesTest, PowerOfTwoSplitsOfOneBatchHaveTheSameLanes) {
  for (const StepWork& work : {StepWork(), Convolution(1e7, 1e5, 1e6), Convolution(1e8, 1e4, 4e7)}) {
    for (int64_t global : {64, 128, 512, 1024}) {
      MicrobatchSizes one = Choose(global, 1, work);
      for (int64_t replicas : {2, 4}) {
        MicrobatchSizes many = Choose(global / replicas, replicas, work);
        EXPECT_EQ(many.lanes, one.lanes) << global << " over " << replicas;
        EXPECT_EQ(many.rows_per_lane, one.rows_per_lane);
        EXPECT_EQ(many.microbatch_rows, one.microbatch_rows);
        EXPECT_EQ(many.reason, one.reason);
      }
    }
  }
  EXPECT_EQ(Choose(8, 8, Convolution(1e7, 1e5, 1e6)).lanes, Choose(64, 1, Convolution(1e7, 1e5, 1e6)).lanes);
}

// Where a lane of the global batch begins, however many devices share it.
TEST(MicrobatchSizesTest, LanesOfMultiplesOfFourBeginAtTheSameExamplesOnAnyDevices) {
  for (const StepWork& work :
       {StepWork(), Convolution(1e6, 3e5, 1e4), Convolution(1e7, 1e5, 1e6), Convolution(1e8, 1e4, 4e7)}) {
    for (int64_t global = 4; global <= 1100; global += 4) {
      const MicrobatchSizes one = Choose(global, 1, work);
      EXPECT_EQ(one.lanes * one.rows_per_lane, global);
      for (int64_t replicas : {2, 4, 8}) {
        if (global % replicas != 0 || (replicas == 8 && one.lanes < 8)) continue;
        const MicrobatchSizes many = Choose(global / replicas, replicas, work);
        EXPECT_EQ(many.lanes, one.lanes) << global << " over " << replicas;
        EXPECT_EQ(many.rows_per_lane, one.rows_per_lane) << global << " over " << replicas;
        EXPECT_EQ(many.microbatch_rows, one.microbatch_rows) << global << " over " << replicas;
      }
    }
  }
}

TEST(MicrobatchSizesTest, LanesHoldTheBatchInWholeMicrobatches) {
  for (int64_t replicas : {1, 2, 3, 4, 6, 7}) {
    for (int64_t batch = 1; batch <= 700; batch += 23) {
      for (const StepWork& work : {StepWork(), Convolution(1e7, 1e5, 1e6)}) {
        MicrobatchSizes s = Choose(batch, replicas, work);
        EXPECT_EQ(s.lanes % replicas, 0);
        EXPECT_GE(s.lanes / replicas * s.rows_per_lane, batch);
        EXPECT_EQ(s.rows_per_lane % s.microbatch_rows, 0);
        EXPECT_GE(s.microbatch_rows, 1);
      }
    }
  }
}

TEST(MicrobatchSizesTest, TakesWhatTheUserAskedFor) {
  MicrobatchSizes s = Choose(100, 2, {}, 4, 10);
  EXPECT_EQ(s.lanes, 4);
  EXPECT_EQ(s.microbatch_rows, 10);
  EXPECT_EQ(s.rows_per_lane, 50);
  EXPECT_THAT(s.reason, HasSubstr("4 lanes, as asked for, of 50 rows in microbatches of 10"));
  s = Choose(100, 1, Convolution(1e7, 1e5, 1e6), 0, 4);
  EXPECT_LE(s.microbatch_rows, 4);
  EXPECT_EQ(Choose(96, 1, Convolution(1e7, 1e5, 1e6), 0, 5).microbatch_rows, 4);
  // Two lanes of 23 rows: a part of them would be one row.
  EXPECT_EQ(Choose(46, 1, Convolution(1e7, 1e5, 1e6), 2, 12).microbatch_rows, 12);
  EXPECT_EQ(Choose(100, 4, {}, 2).lanes, 4);
  EXPECT_EQ(Choose(100, 6, {}, 3).lanes, 6);
}

TEST(MicrobatchSizesTest, LanesThatDoNotGoWithTheDevicesAreStillSharedEvenly) {
  for (int64_t replicas : {2, 3, 5, 7, 48}) {
    for (int64_t lanes : {1, 2, 3, 4, 16, 1 << 20}) {
      const MicrobatchSizes s = Choose(100, replicas, {}, lanes);
      EXPECT_GE(s.lanes, lanes);
      EXPECT_EQ(s.lanes % replicas, 0) << lanes << " on " << replicas;
    }
  }
}

TEST(MicrobatchSizesTest, LargeActivationsGetSmallMicrobatches) {
  // 300 KB a row: some of a microbatch's rows in L2 (1 MiB) are better than all of them in L3.
  const MicrobatchSizes s = Choose(512, 1, Convolution(1e6, 3e5, 1e4));
  EXPECT_LT(s.microbatch_rows, 8);
  EXPECT_LT(LaneSeconds(Convolution(1e6, 3e5, 1e4), Machine(), 32, 2),
            LaneSeconds(Convolution(1e6, 3e5, 1e4), Machine(), 32, 32));
}

TEST(MicrobatchSizesTest, LargeWeightsGetLargeMicrobatches) {
  // Every microbatch reads 4 MB of weights and writes a gradient as large.
  const MicrobatchSizes s = Choose(512, 1, Convolution(1e6, 1e3, 4e6));
  EXPECT_EQ(s.microbatch_rows, s.rows_per_lane);
}

TEST(MicrobatchSizesTest, TransformedKernelsAreReadBesideComputing) {
  // 1e8 operations a row hide 4 MB of weights, but not 16 MB of transformed ones.
  StepWork work = Convolution(1e8, 1e5, 4e6);
  const double before = LaneSeconds(work, Machine(), 4, 1) - LaneSeconds(work, Machine(), 4, 4);
  work.ops[0].streamed_bytes = 1.6e7;
  EXPECT_GT(LaneSeconds(work, Machine(), 4, 1) - LaneSeconds(work, Machine(), 4, 4), before + 5e-4);
}

TEST(MicrobatchSizesTest, SumsOfEveryMapAreAddedForEveryMicrobatch) {
  // Two maps whose sums share a slot: adding costs for both.
  StepWork one = Convolution(1e8, 1e5, 4e6), two = one;
  two.ops.insert(two.ops.end(), one.ops.begin(), one.ops.end());
  auto add = [](const StepWork& work) {
    return LaneSeconds(work, Machine(), 4, 1) - 4 * LaneSeconds(work, Machine(), 1, 1);
  };
  EXPECT_NEAR(add(two), 2 * add(one), 1e-6);
  EXPECT_GT(add(one), 0);
}

TEST(MicrobatchSizesTest, LargeGradientsGetFewLanes) {
  // In 2 rows a lane the filter gradient costs as much to write as to compute.
  const MicrobatchSizes few = Choose(16, 1, Convolution(1e8, 1e4, 1e7));
  EXPECT_EQ(few.lanes, 4);
  EXPECT_THAT(few.reason, HasSubstr("4 lanes of 4 rows in microbatches of 4; one lane's sums take 9.537 MiB"));
  EXPECT_THAT(few.reason, HasSubstr("8 lanes in microbatches of 2: "));
  // Where computing takes much longer all are as good, and the fewest take the least memory.
  EXPECT_EQ(Choose(16, 1, Convolution(1e10, 1e4, 1e7)).lanes, 4);
  EXPECT_EQ(Choose(16, 1, Convolution(1e12, 1e4, 1e8)).lanes, 4);
  // Small sums are no reason.
  EXPECT_EQ(Choose(16, 1, Convolution(1e4, 1e4, 1e6)).lanes, 8);
}

TEST(MicrobatchSizesTest, BigBatchesGetMoreLanes) {
  EXPECT_EQ(Choose(512, 1, Convolution(1e7, 1e5, 1e5)).lanes, 16);
  EXPECT_EQ(Choose(511, 1, Convolution(1e7, 1e5, 1e5)).lanes, 8);
  EXPECT_EQ(Choose(3, 1, Convolution(1e7, 1e5, 1e5)).lanes, 2);
  // As many as share the rows evenly, unless these are fewer than 4.
  EXPECT_EQ(Choose(520, 1, Convolution(1e7, 1e5, 1e5)).lanes, 8);
  EXPECT_EQ(Choose(100, 1, Convolution(1e7, 1e5, 1e5)).lanes, 4);
  EXPECT_EQ(Choose(50, 1, Convolution(1e7, 1e5, 1e5)).lanes, 8);
}

}  // namespace
}  // namespace tandem
