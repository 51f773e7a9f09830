// The scaling study's arithmetic against values worked out by hand; message_pattern_test.cc has the all-reduces'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "runtime/executable/command_info.h"
#include "runtime/testing/executable_builder.h"
#include "tools/scale/crossovers.h"
#include "tools/scale/fit_link.h"
#include "tools/scale/interconnect.h"
#include "tools/scale/measured_times.h"
#include "tools/scale/simulate.h"
#include "tools/scale/step_model.h"

namespace tandem {
namespace {

using ::testing::AllOf;
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
  EXPECT_EQ(ParseLink("2.5,40")->message, 0);
  EXPECT_DOUBLE_EQ(ParseLink("2.5,40,3")->message, 3e-6);
  for (const char* bad : {"", "wifi", "1", "0,5", "1,-1", "1,2,-3", "1,2,3,4", "a,b", "nan,1", "inf,1", "1,inf"}) {
    EXPECT_THAT(std::string(ParseLink(bad).status().message()), HasSubstr("GB/s and microseconds")) << bad;
  }
  EXPECT_THAT(std::string(ParseAlgorithm("star").status().message()), HasSubstr("direct, halving, ring or tree"));
  for (const char* name : {"direct", "halving", "ring", "tree"}) EXPECT_EQ(Name(*ParseAlgorithm(name)), name);
}

// The transport's own rule: 512 KiB to receive.
TEST(Interconnect, DirectTakesOneHopWhileThatIsLittleToReceive) {
  // 256 KiB for 3 processes are 512 KiB to receive.
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kDirect, 262144, 3, kFlat), 2 * 262144 / 1e9 + 1e-3);
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kDirect, 262148, 3, kFlat), 4.0 / 3 * 262148 / 1e9 + 2e-3);
  EXPECT_EQ(AllReduceSeconds(Algorithm::kDirect, 8e6, 1, kFlat), 0);
}

TEST(Interconnect, EachFurtherMessageOfAHopCostsTime) {
  const Link link = {1e9, 1e-3, 1e-4};
  EXPECT_DOUBLE_EQ(SecondsBetween(Algorithm::kDirect, 1e3, 5, link), 4e-6 + 1e-3 + 3e-4);
  // 8 MiB are 4 segments, of each of which a process sends 4 messages in each of two hops.
  EXPECT_DOUBLE_EQ(SecondsBetween(Algorithm::kDirect, 8 << 20, 5, link), 1.6 * (8 << 20) / 1e9 + 2e-3 + 30e-4);
  EXPECT_DOUBLE_EQ(SecondsBetween(Algorithm::kHalving, 1e3, 4, link), 2 * (1e-6 + 1e-3));
}

TEST(Interconnect, HalvingDoublesWhereThatIsShorter) {
  // 4 MB of 4 processes: 2 (4 + 1) ms of doubling are 2 * 0.75 * 4 + 4 ms of halving.
  EXPECT_EQ(WayOf(Algorithm::kHalving, 3.9e6, 4, kFlat.network), Way::kDoubling);
  EXPECT_EQ(WayOf(Algorithm::kHalving, 4.1e6, 4, kFlat.network), Way::kHalving);
}

TEST(Interconnect, BetweenHostsAllDevicesPartsShareTheLink) {
  const Topology hosts = {{100e9, 0}, {1e9, 0}, 4};
  // A ring of 4 inside, and two hops between 2 hosts.
  EXPECT_DOUBLE_EQ(AllReduceSeconds(Algorithm::kDirect, 8e6, 8, hosts), 6 * 2e6 / 100e9 + 8e6 / 1e9);
  EXPECT_EQ(HostsOf(8, hosts), 2);
  EXPECT_EQ(HostsOf(9, hosts), 3);
  EXPECT_EQ(HostsOf(1024, {{}, {}, std::numeric_limits<int>::max()}), 1);
}

const Link kLink = {1e9, 1e-3, 0};  // 1 MB takes as long as a latency

TEST(Crossovers, AreWhereTheFormulasMeet) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  // n B l / ((n - 1) (n - 2))
  EXPECT_NEAR(Crossover(Way::kOneHop, Way::kTwoHops, kLink, 4), 4e6 / 6, 1);
  EXPECT_EQ(Crossover(Way::kOneHop, Way::kTwoHops, kLink, 2), kNever);
  // B l (log2 n - 1) / (n - 1 - log2 n)
  EXPECT_NEAR(Crossover(Way::kOneHop, Way::kDoubling, kLink, 8), 0.5e6, 1);
  // B l log2 n / (log2 n - 2 (1 - 1/n))
  EXPECT_NEAR(Crossover(Way::kDoubling, Way::kHalving, kLink, 4), 4e6, 1);
  EXPECT_NEAR(Crossover(Way::kDoubling, Way::kHalving, kLink, 8), 2.4e6, 1);
  EXPECT_EQ(Crossover(Way::kRing, Way::kTwoHops, kLink, 8), 0);
  // B l (n - 2 - log2 p) / (1 + 1/n - 1/p), p = 4
  EXPECT_NEAR(Crossover(Way::kHalving, Way::kRing, kLink, 6), 2e6 * 12 / 11, 1);
  EXPECT_EQ(Crossover(Way::kHalving, Way::kRing, kLink, 8), kNever);
  // n B l (n - 1 - ceil(log2 n))
  EXPECT_NEAR(Crossover(Way::kTree, Way::kRing, kLink, 6), 12e6, 1);
  // segment (1 + (log2 n - 1) l / m) / (n - 1)
  EXPECT_NEAR(Crossover(Way::kTwoHops, Way::kHalving, {1e9, 1e-3, 1e-4}, 16), 2097152.0 * 31 / 15, 1);
}

TEST(Crossovers, ListTheShortestWays) {
  const std::vector<Stretch> two = Crossovers(kLink, 2);
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(two[0].way, Way::kOneHop);
  const std::vector<Stretch> four = Crossovers(kLink, 4);
  ASSERT_EQ(four.size(), 2u);
  EXPECT_EQ(four[1].way, Way::kTwoHops);
  EXPECT_NEAR(four[1].from, 4e6 / 6, 1);
}

constexpr char kTable[] =
    "# two transports\n\nbytes,processes,communication,seconds\n"
    "16000,2,tcp,0.002\n1000, 2, tcp, 0.001\n1000,4,tcp,0.009\r\n1000,4,tcp,0.005\n1000,4,tcp,0.001\n"
    "1000,2,ring,0.7\n";

TEST(MeasuredTimes, AreInterpolated) {
  const auto times = MeasuredTimes::Parse(kTable, "times.csv", "tcp");
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->processes(), (std::vector<int>{2, 4}));
  EXPECT_TRUE(times->Has(4));
  EXPECT_FALSE(times->Has(3));
  EXPECT_DOUBLE_EQ(times->Seconds(1000, 2), 0.001);
  EXPECT_NEAR(times->Seconds(4000, 2), 0.001 * std::sqrt(2), 1e-12);  // half way in octaves
  EXPECT_DOUBLE_EQ(times->Seconds(16000, 2), 0.002);
  EXPECT_DOUBLE_EQ(times->Seconds(32000, 2), 0.004);  // at the rate of the largest
  EXPECT_DOUBLE_EQ(times->Seconds(4, 2), 0.001);      // never less than the smallest
  EXPECT_DOUBLE_EQ(times->Seconds(1000, 4), 0.005);   // the median
  EXPECT_EQ(times->rows().size(), 3u);
}

TEST(MeasuredTimes, OfSeveralCommunicationsOneIsChosen) {
  EXPECT_EQ(MeasuredTimes::Parse(kTable, "t", "ring")->communication(), Communication::kRing);
  absl::Status status = MeasuredTimes::Parse(kTable, "t.csv", "").status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("t.csv has times of ring, tcp: choose one with --communication"));
  status = MeasuredTimes::Parse(kTable, "t.csv", "shared_memory").status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--communication=shared_memory: t.csv has no such times"));
}

TEST(MeasuredTimes, MistakesInTheTableAreNamed) {
  const std::string header = "bytes,processes,communication,seconds\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "t.csv:1: there are no times"},
      {header, "there are no times"},
      {"1000,2,tcp,0.1\n", "t.csv:1: the first line is \"1000,2,tcp,0.1\" in place of \"bytes,"},
      {header + "1000,2,tcp\n", "t.csv:2: 3 fields in place of 4 in \"1000,2,tcp\""},
      {header + "\n0,2,tcp,1\n", "t.csv:3: bytes is \"0\", and must be from 1 to 1099511627776"},
      {header + "9999999999999,2,tcp,1\n", "t.csv:2: bytes is \"9999999999999\""},
      {header + "1e3,2,tcp,1\n", "t.csv:2: bytes is \"1e3\""},
      {header + "1000,1,tcp,1\n", "t.csv:2: processes is \"1\", and must be from 2 to 1048576"},
      {header + "1000,2,auto,1\n", "communication is \"auto\", and must be shared_memory, tcp or ring"},
      {header + "1000,2,\x1b[2J,1\n", "communication is \"\\x1b[2J\""},
      {header + "1000,2,tcp,0\n", "seconds is \"0\", and must be greater than 0"},
      {header + "1000,2,tcp,nan\n", "seconds is \"nan\""},
      {header + "1000,2,tcp,inf\n", "seconds is \"inf\""}};
  for (const auto& [text, message] : cases) {
    const absl::Status status = MeasuredTimes::Parse(text, "t.csv", "tcp").status();
    EXPECT_EQ(ExitCodeFor(status), kExitBadData) << text;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(message), HasSubstr("benchmarks/all_reduce --csv=FILE")));
  }
  EXPECT_EQ(ExitCodeFor(MeasuredTimes::Read("/nowhere/t.csv", "").status()), kExitMissingInput);
}

TEST(FitLink, FindsTheLinkThatTimesWereMadeWith) {
  // One hop of 2 and of 4 processes, then two hops; 2 GB/s, 50 us, 3 us a message.
  const double b = 2e9, l = 50e-6, m = 3e-6;
  std::vector<MeasuredTime> rows;
  for (double bytes : {1e3, 1e5}) {
    rows.push_back({bytes, 2, bytes / b + l});
    rows.push_back({bytes, 4, 3 * bytes / b + l + 2 * m});
  }
  rows.push_back({1e6, 2, 1e6 / b + 2 * l});
  rows.push_back({1e6, 4, 1.5e6 / b + 2 * l + 4 * m});
  const LinkFit fit = FitLink(Algorithm::kDirect, rows);
  EXPECT_NEAR(fit.link.bandwidth / b, 1, 1e-6);
  EXPECT_NEAR(fit.link.latency / l, 1, 1e-6);
  EXPECT_NEAR(fit.link.message / m, 1, 1e-6);
  EXPECT_LT(fit.greatest_error, 1e-6);
}

TEST(FitLink, FindsWhereHalvingBegins) {
  std::vector<MeasuredTime> rows;
  for (double bytes = 1e3; bytes < 1e9; bytes *= 10) {
    rows.push_back({bytes, 8, std::min(3 * (bytes / 5e9 + 1e-3), 1.75 * bytes / 5e9 + 6e-3)});
  }
  const LinkFit fit = FitLink(Algorithm::kHalving, rows);
  EXPECT_NEAR(fit.link.bandwidth / 5e9, 1, 1e-6);
  EXPECT_NEAR(fit.link.latency / 1e-3, 1, 1e-6);
}

TEST(FitLink, SaysHowWellItFits) {
  // x = 1000 / B in ms: (x - 1)^2 + (x / 3 - 1)^2 is least at 1.2. A latency cannot help.
  const LinkFit fit = FitLink(Algorithm::kRing, {{1000, 2, 1e-3}, {1000, 2, 3e-3}});
  EXPECT_NEAR(fit.link.bandwidth, 1000 / 1.2e-3, 1e-3);
  EXPECT_NEAR(fit.error, std::sqrt((0.04 + 0.36) / 2), 1e-9);
  EXPECT_NEAR(fit.greatest_error, 0.6, 1e-9);
}

TEST(FitLink, NothingOfALinkIsNegative) {
  // The larger one is faster: a straight line through both would have a negative latency.
  const LinkFit fit = FitLink(Algorithm::kRing, {{1000, 2, 1e-6}, {2000, 2, 9e-6}});
  EXPECT_GT(fit.link.bandwidth, 0);
  EXPECT_EQ(fit.link.latency, 0);
  EXPECT_EQ(fit.link.message, 0);
}

StepModel TwoBuckets() {
  StepModel model;
  model.compute = 0.100;
  model.tail = 0.010;
  model.buckets = {{0, "first", 20e6, 0.040, false}, {1, "last", 20e6, 0.090, false}};
  return model;
}

// By a ring.
Forecast Ring(const StepModel& model, int devices) {
  return Simulate(model, [&](double bytes) { return AllReduceSeconds(Algorithm::kRing, bytes, devices, kFlat); });
}

TEST(Simulate, OneDeviceOnlyComputes) {
  const Forecast f = Ring(TwoBuckets(), 1);
  EXPECT_DOUBLE_EQ(f.step, 0.110);
  EXPECT_EQ(f.exposed, 0);
  EXPECT_EQ(f.worst, -1);
}

TEST(Simulate, WhatIsReadyEarlyIsHidden) {
  // Two devices: each bucket takes 2 * (10 + 1) = 22 ms.
  const Forecast f = Ring(TwoBuckets(), 2);
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
  const Forecast f = Ring(model, 2);
  EXPECT_DOUBLE_EQ(f.buckets[1].start, 0.062);
}

TEST(Simulate, ABlockingBucketDelaysWhatFollows) {
  StepModel model = TwoBuckets();
  model.buckets[0].blocking = true;
  const Forecast f = Ring(model, 2);
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
  const int dw = b.Lane("dw", {3, 3}, format::ReduceKind::kSum), dv = b.Lane("dv", {3, 3}, format::ReduceKind::kSum);
  const int sum_w = b.Step("sum_w", {3, 3}), sum_v = b.Step("sum_v", {3, 3});
  b.Map();
  b.MatMul("first", x, w, y);
  b.MatMul("second", y, v, z);
  b.MatMulWeightGrad("second_grad", y, z, dv);
  b.MatMulWeightGrad("first_grad", x, z, dw);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {dv}, {sum_v});
  b.LaneReduce(format::ReduceKind::kSum, {dw}, {sum_w});
  if (replicas > 1) {
    b.AllReduce(format::ReduceKind::kSum, {sum_v});
    b.AllReduce(format::ReduceKind::kSum, {sum_w});
  }
  b.CheckFinite({sum_v, sum_w});
  format::Index index = b.Take();
  if (replicas > 1) {
    for (uint32_t i = 0; i < index.collectives.size(); ++i) {
      index.collectives[i].seq = i;
      index.collectives[i].bytes = 36;
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
