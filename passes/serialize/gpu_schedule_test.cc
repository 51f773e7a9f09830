#include "passes/serialize/gpu_schedule.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using testing::ElementsAre;

// "compute_0 captured: 0 1 2", "collectives_0 after 0: 3", ...
std::vector<std::string> Text(const format::GpuProgram& schedule) {
  std::vector<std::string> lines;
  for (const auto& s : schedule.segments) {
    EXPECT_EQ(s.stream == format::Stream::kCommunication, s.name.rfind("collectives_", 0) == 0);
    lines.push_back(absl::StrCat(s.name, s.captured ? " captured" : "",
                                 s.waits.empty() ? "" : absl::StrCat(" after ", absl::StrJoin(s.waits, " ")), ": ",
                                 absl::StrJoin(s.commands, " ")));
  }
  return lines;
}

std::vector<std::string> Schedule(ExecutableBuilder& b) {
  return Text(MakeGpuSchedule(b.index(), b.index().programs[0]));
}

TEST(GpuScheduleTest, OneDeviceRunsOneCapturedSegment) {
  ExecutableBuilder b(1, 1, 4, 4);
  const int s = b.Scalar("s"), a = b.Step("a", {}), v = b.Variable("v", {});
  b.Global();
  b.Copy(s, a);
  b.CheckFinite({a});
  b.Copy(a, v);
  EXPECT_THAT(Schedule(b), ElementsAre("compute_0 captured: 0 1 2"));
}

// Two layers: the second one's gradient is combined while the first one's is computed.
TEST(GpuScheduleTest, CollectivesBeginAsSoonAsTheirGradientsAreThere) {
  ExecutableBuilder b(2, 2, 4, 4);
  const int x = b.Input("x", {kBatch, 4}), w1 = b.Variable("w1", {4, 4}), w2 = b.Variable("w2", {4, 4});
  const int y1 = b.Microbatch("y1", {kBatch, 4}), y2 = b.Microbatch("y2", {kBatch, 4}),
            d1 = b.Microbatch("d1", {kBatch, 4});
  const int g1 = b.Step("g1", {4, 4}), g2 = b.Step("g2", {4, 4});
  b.Map();
  b.MatMul("forward1", x, w1, y1);              // 0
  b.MatMul("forward2", y1, w2, y2);             // 1
  b.MatMulWeightGrad("backward2", y1, y2, g2);  // 2
  b.MatMulInputGrad("backward2", y2, w2, d1);   // 3
  b.MatMulWeightGrad("backward1", x, d1, g1);   // 4
  b.Global();
  b.AllReduce(format::ReduceKind::kSum, {g2});  // 5
  b.AllReduce(format::ReduceKind::kSum, {g1});  // 6
  b.CheckFinite({g1, g2});                      // 7
  b.Copy(g1, w1);                               // 8
  b.Copy(g2, w2);                               // 9
  EXPECT_THAT(Schedule(b),
              ElementsAre("compute_0 captured: 0 1 2", "collectives_0 after 0: 5", "compute_1 captured: 3 4",
                          "collectives_1 after 2: 6", "compute_2 captured after 3: 7 8 9"));
}

// What is ready together goes together; what is there from the start waits for nothing; a single launch is no graph.
TEST(GpuScheduleTest, CollectivesShareSegmentsAndWaits) {
  ExecutableBuilder b(2, 2, 4, 4);
  const int s = b.Scalar("s"), a = b.Step("a", {}), c = b.Step("c", {}), d = b.Step("d", {});
  const int v = b.Variable("v", {}), w = b.Variable("w", {});
  b.Global();
  b.AllReduce(format::ReduceKind::kMean, {d});  // 0
  b.Copy(s, a);                                 // 1
  b.Copy(a, c);                                 // 2
  b.AllReduce(format::ReduceKind::kSum, {a});   // 3: the copy to c reads a
  b.AllReduce(format::ReduceKind::kMax, {c});   // 4
  b.Copy(a, v);                                 // 5
  b.Copy(d, w);                                 // 6
  b.Copy(c, v);                                 // 7: in the wait for 4 already
  EXPECT_THAT(Schedule(b), ElementsAre("collectives_0: 0", "compute_0 captured: 1 2", "collectives_1 after 1: 3 4",
                                       "compute_1 captured after 2: 5 6 7"));
}

// A gradient's place that something else takes later is not free before its collective is done.
TEST(GpuScheduleTest, APlaceIsTakenAgainAfterTheCollective) {
  ExecutableBuilder b(2, 2, 4, 4);
  const int s = b.Scalar("s"), g = b.Step("g", {}), other = b.Step("other", {}), free = b.Step("free", {});
  b.index().programs[0].buffers[other].offset = b.index().programs[0].buffers[g].offset;
  b.Global();
  b.Copy(s, g);                                // 0
  b.AllReduce(format::ReduceKind::kSum, {g});  // 1
  b.Copy(s, free);                             // 2
  b.Copy(s, other);                            // 3
  EXPECT_THAT(Schedule(b), ElementsAre("compute_0: 0", "collectives_0 after 0: 1", "compute_1 captured after 1: 2 3"));
}

// A lone command between two waits waits for both, unless it is worth the time that the second takes, or a collective
// needs it.
TEST(GpuScheduleTest, ALoneSmallCommandWaitsForTheNextBucketToo) {
  ExecutableBuilder b(2, 2, 4, 4);
  const int s = b.Scalar("s"), g = b.Step("g", {}), h = b.Step("h", {}), a = b.Step("a", {}), c = b.Step("c", {});
  const int v = b.Variable("v", {}), w = b.Variable("w", {});
  b.Global();
  b.Copy(s, g);                                // 0
  b.AllReduce(format::ReduceKind::kSum, {g});  // 1
  b.Copy(s, h);                                // 2: goes on meanwhile
  b.AllReduce(format::ReduceKind::kSum, {h});  // 3
  b.Copy(g, a);                                // 4: for 1 alone
  b.Copy(h, c);                                // 5: for 3
  b.Copy(a, v);                                // 6
  b.Copy(c, w);                                // 7
  EXPECT_THAT(Schedule(b), ElementsAre("compute_0: 0", "collectives_0 after 0: 1", "compute_1: 2",
                                       "collectives_1 after 2: 3", "compute_2 captured after 3: 4 5 6 7"));
}

TEST(GpuScheduleTest, ALoneCommandOfTheMapRunsMeanwhile) {
  ExecutableBuilder b(2, 2, 4, 4);
  const int x = b.Input("x", {kBatch, 4}), w = b.Variable("w", {4, 4});
  const int y = b.Microbatch("y", {kBatch, 4}), z = b.Microbatch("z", {kBatch, 4}), dw = b.Step("dw", {4, 4});
  const int u = b.Step("u", {4, 4});
  b.Map();
  b.MatMul("first", x, w, y);            // 0
  b.MatMulWeightGrad("grad", x, y, dw);  // 1
  b.Global();
  b.AllReduce(format::ReduceKind::kSum, {dw});  // 2
  b.Map();
  b.MatMul("second", y, w, z);  // 3
  b.Global();
  b.Copy(dw, u);  // 4
  b.Copy(u, w);   // 5
  EXPECT_THAT(Schedule(b), ElementsAre("compute_0 captured: 0 1", "collectives_0 after 0: 2", "compute_1: 3",
                                       "compute_2 captured after 1: 4 5"));
}

TEST(GpuScheduleTest, TheWorkspaceIsTheMostThatAnyCommandNeeds) {
  ExecutableBuilder b(1, 1, 4, 4);
  const int x = b.Input("x", {kBatch, 4}), w = b.Variable("w", {4, 4}), y = b.Microbatch("y", {kBatch, 4});
  const int kernel = b.Kernel("k", 0, format::Domain::kRows);
  b.index().kernels[kernel].gpu = format::GpuLaunch();
  b.index().kernels[kernel].gpu->scratch_bytes = 1000;
  b.Map();
  b.MatMul("forward", x, w, y);
  b.index().programs[0].sections[0].commands[0].body.As<format::LibraryCall>()->workspace_bytes = 5000;
  b.Launch("launch", kernel, {x}, {y});
  EXPECT_EQ(MakeGpuSchedule(b.index(), b.index().programs[0]).workspace_bytes, 5000u);
  b.index().kernels[kernel].gpu->scratch_bytes = 9000;
  EXPECT_EQ(MakeGpuSchedule(b.index(), b.index().programs[0]).workspace_bytes, 9000u);
}

}  // namespace
}  // namespace tandem
