#include "tools/dump/live_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<int>> Ranges(const ArenaTimeline& t) {
  std::vector<std::vector<int>> ranges;
  for (const LiveBuffer& b : t.live) ranges.push_back({static_cast<int>(b.buffer), b.first, b.last});
  return ranges;
}

TEST(LiveRanges, ABufferLivesFromItsWriterToItsLastReader) {
  ExecutableBuilder b(/*replicas=*/1, /*lanes=*/2, /*rows_per_lane=*/4, /*microbatch_rows=*/4);
  const int k = b.Kernel("k", 0, format::Domain::kRows), once = b.Kernel("once", 0, format::Domain::kOnce);
  const int x = b.Input("x", {kBatch, 16}), first = b.Microbatch("first", {kBatch, 16}),
            second = b.Microbatch("second", {kBatch, 16});
  const int view = b.Microbatch("view", {kBatch, 4, 4});
  b.index().programs[0].buffers[view].offset = b.index().programs[0].buffers[first].offset;
  const int lane = b.Lane("lane", {4}, format::ReduceKind::kSum), sum = b.Step("sum", {4}), out = b.Step("out", {4});
  b.Map();
  b.Launch("a", k, {x}, {first});
  b.Launch("b", k, {first}, {second});
  b.Launch("c", k, {second}, {lane});
  b.Launch("d", k, {view}, {lane});
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {lane}, {sum});
  b.Launch("e", once, {sum}, {out});
  b.CheckFinite({sum});
  b.Output("out", out);
  const format::Index index = b.Take();
  const std::vector<ArenaTimeline> timelines = ArenaTimelines(index, index.programs[0]);
  ASSERT_EQ(timelines.size(), 2u);
  EXPECT_EQ(timelines[0].bytes, index.programs[0].microbatch_bytes);
  // The view keeps the first one alive.
  EXPECT_THAT(Ranges(timelines[0]), ElementsAre(ElementsAre(first, 0, 3), ElementsAre(second, 1, 2)));
  EXPECT_EQ(timelines[0].peak, 2 * 4 * 16 * 4);
  // An output lives to the end.
  EXPECT_THAT(Ranges(timelines[1]), ElementsAre(ElementsAre(sum, 4, 6), ElementsAre(out, 5, 6)));
}

}  // namespace
}  // namespace tandem
