// The scaling study's arithmetic against values worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/command_info.h"
#include "runtime/testing/executable_builder.h"
#include "tools/scale/interconnect.h"
#include "tools/scale/simulate.h"
#include "tools/scale/step_model.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

const Topology kFlat = {{1e9, 1e-3}, {1e9, 1e-3}, 1};

TEST(Interconnect, RingMovesTwiceTheBytesAndTreePaysTheLogarithm) {
  // 8 MB over 4 devices: 6 messages of 2 MB and 1 ms each.
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kRing, 8e6, 4, kFlat), 6 * (2e-3 + 1e-3));
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kTree, 8e6, 4, kFlat), 2 * 8e-3 + 4 * 1e-3);
  EXPECT_EQ(AllReduceSeconds(Algorithm::kRing, 8e6, 1, kFlat), 0);
  // Small messages on many devices: latency counts, and the tree wins.
  EXPECT_LT(AllReduceSeconds(Algorithm::kTree, 1e3, 1024, kFlat), AllReduceSeconds(Algorithm::kRing, 1e3, 1024, kFlat));
}

TEST(Interconnect, DevicesOfAHostShareItsNetworkLink) {
  const Topology hosts = {{100e9, 0}, {1e9, 0}, 4};
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kRing, 8e6, 4, hosts), 6 * 2e6 / 100e9);
  // Two hosts: every device has a quarter of the bytes for a quarter of the link.
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kRing, 8e6, 8, hosts), 6 * 2e6 / 100e9 + 2 * 1e6 / 0.25e9);
}

TEST(Interconnect, LinksHaveNamesOrNumbers) {
  EXPECT_EQ(ParseLink("10gbe")->bandwidth, 1.25e9);
  EXPECT_EQ(ParseLink("2.5,40")->bandwidth, 2.5e9);
  EXPECT_DOUBLE_EQ(ParseLink("2.5,40")->latency, 40e-6);
  for (const char* bad : {"", "wifi", "1", "0,5", "1,-1", "1,2,3", "a,b"}) {
    EXPECT_THAT(std::string(ParseLink(bad).status().message()), HasSubstr("GB/s and microseconds")) << bad;
  }
  EXPECT_THAT(std::string(ParseAlgorithm("star").status().message()), HasSubstr("ring or tree"));
}

StepModel TwoBuckets() {
  StepModel model;
  model.compute = 0.100;
  model.tail = 0.010;
  model.buckets = {{0, "first", 20e6, 0.040, false}, {1, "last", 20e6, 0.090, false}};
  return model;
}

TEST(Simulate, OneDeviceOnlyComputes) {
  const Forecast f = Simulate(TwoBuckets(), 1, Algorithm::kRing, kFlat);
  EXPECT_DOUBLE_EQ(f.step, 0.110);
  EXPECT_EQ(f.exposed, 0);
  EXPECT_EQ(f.worst, -1);
}

TEST(Simulate, WhatIsReadyEarlyIsHidden) {
  // Two devices: each bucket takes 2 * (10 + 1) = 22 ms.
  const Forecast f = Simulate(TwoBuckets(), 2, Algorithm::kRing, kFlat);
  EXPECT_DOUBLE_EQ(f.buckets[0].end, 0.062);
  EXPECT_DOUBLE_EQ(f.buckets[0].stall, 0);
  EXPECT_DOUBLE_EQ(f.buckets[1].end, 0.112);
  EXPECT_NEAR(f.exposed, 0.012, 1e-12);
  EXPECT_NEAR(f.step, 0.122, 1e-12);
  EXPECT_DOUBLE_EQ(f.communication, 0.044);
  EXPECT_EQ(f.worst, 1);
}

TEST(Simulate, BucketsWaitForTheLink) {
  StepModel model = TwoBuckets();
  model.buckets[1].ready = 0.041;
  const Forecast f = Simulate(model, 2, Algorithm::kRing, kFlat);
  EXPECT_DOUBLE_EQ(f.buckets[1].start, 0.062);
}

TEST(Simulate, ABlockingBucketDelaysWhatFollows) {
  StepModel model = TwoBuckets();
  model.buckets[0].blocking = true;
  const Forecast f = Simulate(model, 2, Algorithm::kRing, kFlat);
  EXPECT_NEAR(f.buckets[0].stall, 0.022, 1e-12);
  EXPECT_NEAR(f.buckets[1].start, 0.112, 1e-12);
  EXPECT_NEAR(f.step, 0.100 + 0.022 + 0.012 + 0.010, 1e-12);
  EXPECT_EQ(f.worst, 0);
}

// Two layers; the second's gradient comes first.
std::shared_ptr<const Executable> TwoLayers(int replicas) {
  ExecutableBuilder b(replicas, /*lanes=*/4, /*rows_per_lane=*/2, /*microbatch_rows=*/1);
  const int w = b.Variable("w", {3, 3}), v = b.Variable("v", {3, 3}), x = b.Input("x", {kBatch, 3});
  const int y = b.Microbatch("y", {kBatch, 3}), z = b.Microbatch("z", {kBatch, 3});
  const int dw = b.Lane("dw", {3, 3}, fb::ReduceKind::Sum), dv = b.Lane("dv", {3, 3}, fb::ReduceKind::Sum);
  const int sum_w = b.Step("sum_w", {3, 3}), sum_v = b.Step("sum_v", {3, 3});
  b.Map();
  b.MatMul("first", x, w, y);
  b.MatMul("second", y, v, z);
  b.MatMulWeightGrad("second_grad", y, z, dv);
  b.MatMulWeightGrad("first_grad", x, z, dw);
  b.Global();
  b.LaneReduce(fb::ReduceKind::Sum, {dv}, {sum_v});
  b.LaneReduce(fb::ReduceKind::Sum, {dw}, {sum_w});
  if (replicas > 1) {
    b.AllReduce(fb::ReduceKind::Sum, {sum_v});
    b.AllReduce(fb::ReduceKind::Sum, {sum_w});
  }
  b.CheckFinite({sum_v, sum_w});
  fb::ExecutableT index = b.Take();
  if (replicas > 1) {
    for (uint32_t i = 0; i < index.collectives.size(); ++i) {
      index.collectives[i]->seq = i;
      index.collectives[i]->bytes = 36;
    }
  }
  auto executable = Executable::Parse(BuildExecutable(std::move(index), {}));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? *executable : nullptr;
}

TEST(StepModel, GradientsAreReadyInTheOrderOfTheBackwardPass) {
  const auto executable = TwoLayers(2);
  ASSERT_NE(executable, nullptr);
  // Map: 10, 10, 30, 50 ms in 5 microbatches and no sums; reductions 1 ms each; all-reduces do not count; check 2 ms.
  CommandSeconds times;
  times.seconds = {0.010, 0.010, 0.030, 0.050, 0, 0.001, 0.001, 9, 9, 0.002, 0};
  times.microbatches = 5;
  ASSERT_EQ(ListCommands(*executable).size(), times.seconds.size());
  auto model = MakeStepModel(*executable, times, /*overlap=*/true);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_NEAR(model->compute, 0.102, 1e-12);
  EXPECT_NEAR(model->tail, 0.002, 1e-12);
  ASSERT_EQ(model->buckets.size(), 2u);
  EXPECT_NEAR(model->buckets[0].ready, 0.100 - 0.050 / 5 + 0.001, 1e-12);
  EXPECT_NEAR(model->buckets[1].ready, 0.101, 1e-12);
  EXPECT_EQ(model->buckets[0].bytes, 36);

  model = MakeStepModel(*executable, times, /*overlap=*/false);
  ASSERT_TRUE(model.ok());
  for (const Bucket& b : model->buckets) EXPECT_NEAR(b.ready, model->compute, 1e-12);
}

TEST(StepModel, AProgramOfOneDeviceHasNothingToCombine) {
  const auto executable = TwoLayers(1);
  ASSERT_NE(executable, nullptr);
  CommandSeconds times;
  times.seconds.assign(ListCommands(*executable).size(), 0.001);
  const absl::Status status = MakeStepModel(*executable, times, true).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("--devices=cpu:0,cpu:1"));
}

}  // namespace
}  // namespace tandem
