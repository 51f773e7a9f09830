// What is measured of a pipeline, and that threads come when they are needed.
#include "data/throughput.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/dataset.h"
#include "data/stage_times.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using data_internal::StageList;
using data_internal::StageTimes;

absl::StatusOr<Element> Slow(const Element& e) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return e;
}
absl::StatusOr<Element> Same(const Element& e) { return e; }

// Stages of a pipeline with these seconds: total, busy, drawing.
StageList Stages(const std::vector<std::array<double, 3>>& seconds) {
  const auto nanoseconds = [](double s) { return static_cast<int64_t>(1e9 * s); };
  StageList stages;
  for (const auto& [total, busy, drawing] : seconds) {
    stages.push_back(
        std::make_shared<StageTimes>("Stage", SourceLocation{"input.cc", static_cast<int>(stages.size())}));
    stages.back()->total = nanoseconds(total);
    stages.back()->busy = nanoseconds(busy);
    stages.back()->drawing = nanoseconds(drawing);
  }
  data_internal::PipelineTimes& p = stages.back()->pipeline;
  p.elements = 100;
  p.elapsed = nanoseconds(10);
  p.threads = 2;
  p.thread_time = nanoseconds(20);
  p.consumer_wait = nanoseconds(6);
  p.ready = 150;
  p.window = 4;
  return stages;
}

TEST(ThroughputTest, AThreadsTimeIsDividedByWhatAStageWaitsFor) {
  const Throughput t = data_internal::ThroughputOf(Stages({{2, 2, 2}, {9, 7, 0}, {10, 1, 0}}));
  ASSERT_EQ(t.stages.size(), 3u);
  EXPECT_EQ(t.stages[1].stage, "Stage (input.cc:1)");
  EXPECT_DOUBLE_EQ(t.stages[1].busy_secs, 7);
  EXPECT_DOUBLE_EQ(t.stages[1].source_secs, 2);
  EXPECT_DOUBLE_EQ(t.stages[1].consumer_secs, 11);
  EXPECT_DOUBLE_EQ(t.ready_elements, 1.5);
  EXPECT_EQ(t.bottleneck, 1);
  EXPECT_EQ(t.BottleneckText(), "the slowest stage is Stage (input.cc:1), with 70 % of the work");
  EXPECT_TRUE(absl::StrContains(t.ToString(),
                                "Stage (input.cc:1)  busy 7.000 s, waited 2.000 s for its source and "
                                "11.000 s for its consumer\n"))
      << t.ToString();
  EXPECT_TRUE(absl::StrContains(t.ToString(), "1.5 of at most 4 elements were ready")) << t.ToString();
}

TEST(ThroughputTest, WindowsOverFilesWantACache) {
  Throughput t;
  t.elements = 1;
  t.seconds = t.consumer_wait_secs = 1;
  t.bottleneck = 1;
  t.stages = {{"Csv (input.cc:1)", 1}, {"Window (input.cc:2)", 3}, {"Shuffle (input.cc:3)", 0}};
  EXPECT_EQ(
      t.BottleneckText(),
      "the slowest stage is Window (input.cc:2), with 75 % of the work; records of Csv (input.cc:1) are read again "
      "for each window: put Cache() behind it where they fit into memory");
  t.stages.insert(t.stages.begin() + 1, {"Cache (input.cc:4)", 0});
  EXPECT_EQ(t.BottleneckText(), "the slowest stage is Cache (input.cc:4), with 0 % of the work");
}

// What one thread at a time does limits the others, though they work for longer altogether.
TEST(ThroughputTest, DrawingThatTakesMostOfTheTimeIsTheBottleneck) {
  EXPECT_EQ(data_internal::ThroughputOf(Stages({{8, 8, 8}, {19, 11, 0}})).bottleneck, 0);
  EXPECT_EQ(data_internal::ThroughputOf(Stages({{6, 6, 6}, {17, 11, 0}})).bottleneck, 1);
}

TEST(ThroughputTest, AConsumerThatHardlyWaitsIsTheSlowerOne) {
  const StageList stages = Stages({{2, 2, 2}, {9, 7, 0}});
  stages.back()->pipeline.consumer_wait = 1000;
  const Throughput t = data_internal::ThroughputOf(stages);
  EXPECT_EQ(t.bottleneck, -1);
  EXPECT_EQ(t.BottleneckText(), "the consumer waited 0.0 % of the time, so no stage is a bottleneck");
}

TEST(ThroughputTest, TheSlowStageIsNamedWithItsLine) {
  const Dataset range = Dataset::Range(16);
  const int line = __LINE__ + 1;
  const Dataset mapped = range.Map(Slow);
  for (const Dataset& d : {mapped.Batch(2), mapped.Filter([](const Element&) { return true; }).Batch(2).Prefetch(1)}) {
    const std::string before = d.Describe();
    EXPECT_TRUE(absl::StrContains(before, "nothing has been read yet")) << before;
    ASSERT_EQ(Read(d).size(), 8u);
    const Throughput t = d.MeasuredThroughput();
    EXPECT_EQ(t.elements, 8);
    EXPECT_EQ(t.bottleneck, 1);
    EXPECT_EQ(t.stages[1].stage, absl::StrCat("Map (", __FILE__, ":", line, ")"));
    EXPECT_TRUE(absl::StrContains(d.Describe(), absl::StrCat("the slowest stage is ", t.stages[1].stage)))
        << d.Describe();
  }
  // All elements of so short a pipeline are looked at, and each slept; both datasets have the stage in common.
  EXPECT_GE(mapped.MeasuredThroughput().stages[1].busy_secs, 2 * 16 * 0.002);
}

// What the datasets of a FlatMap spend is told of their stages, whichever element they are made of.
TEST(ThroughputTest, DatasetsOfFlatMapAddUp) {
  const auto inner = [](const Element&) -> absl::StatusOr<Dataset> { return Dataset::Range(3).Map(Slow); };
  const Dataset d = Dataset::Range(5).FlatMap(inner);
  ASSERT_EQ(Read(d).size(), 15u);
  const Throughput t = d.MeasuredThroughput();
  ASSERT_EQ(t.stages.size(), 4u);
  EXPECT_TRUE(absl::StartsWith(t.stages[2].stage, "Map (")) << t.stages[2].stage;
  EXPECT_GE(t.stages[2].busy_secs, 15 * 0.002);
  EXPECT_EQ(t.bottleneck, 2);
}

TEST(ThroughputTest, StagesOfJoinedDatasetsAreListedOnce) {
  const Dataset range = Dataset::Range(4);
  const Dataset d = range.Concatenate(range.Take(2));
  EXPECT_EQ(d.MeasuredThroughput().stages.size(), 3u) << d.Describe();
}

// The samples of a long pipeline stand for all elements.
TEST(ThroughputTest, WeightsOfSamplesSumToTheElements) {
  int64_t sum = 0, looked_at = 0;
  constexpr int64_t kElements = 100000;
  for (int64_t n = 0; n < kElements; ++n) {
    sum += data_internal::SampleWeight(n);
    looked_at += data_internal::SampleWeight(n) > 0;
  }
  EXPECT_NEAR(static_cast<double>(sum), kElements, 0.05 * kElements);
  EXPECT_LT(looked_at, kElements / 40);
}

// Elements that are only made when two threads make one each at the same time.
TEST(ThroughputTest, AutomaticCallsGetAThreadWhenTheConsumerWaits) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor has one thread";
  std::mutex mutex;
  std::condition_variable both;
  int arrived = 0;
  const auto meet = [&](const Element& e) -> absl::StatusOr<Element> {
    if (*e.components[0].data<int64_t>() < 20) return Slow(e);
    std::unique_lock<std::mutex> lock(mutex);
    ++arrived;
    both.notify_all();
    both.wait_for(lock, std::chrono::seconds(20), [&] { return arrived >= 2; });
    if (arrived < 2) return absl::DeadlineExceededError("there is no second thread");
    return e;
  };
  const Dataset d = Dataset::Range(22).Map(meet, {.num_parallel_calls = kAuto, .spec = {{"value", DType::kInt64, {}}}});
  std::unique_ptr<Iterator> it = Make(d);
  ASSERT_EQ(Read(*it, 2).size(), 2u);
  EXPECT_EQ(d.MeasuredThroughput().threads, 1);
  EXPECT_EQ(Read(*it).size(), 20u);
  EXPECT_GE(d.MeasuredThroughput().threads, 2);
}

TEST(ThroughputTest, AutomaticCallsChangeNoElementAndNoPosition) {
  const Dataset plain = Dataset::Range(300).Shuffle(40, {.seed = 3}).Map(Same).Batch(4);
  const Dataset automatic =
      Dataset::Range(300).Shuffle(40, {.seed = 3}).Map(Same, {.num_parallel_calls = kAuto}).Batch(4).Prefetch(kAuto);
  EXPECT_EQ(Values(automatic), Values(plain));
  std::unique_ptr<Iterator> a = Make(plain), b = Make(automatic);
  for (int i = 0; i < 75; ++i) {
    ASSERT_EQ(*a->SaveState(), *b->SaveState()) << i;
    EXPECT_TRUE(BitEqual(Read(*a, 1), Read(*b, 1))) << i;
  }
}

}  // namespace
}  // namespace tandem
