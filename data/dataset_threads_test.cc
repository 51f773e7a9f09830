// Threads change when elements are made, never which, and are gone when the iterator is.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/processor_time.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// Elements that take unequal time, so that threads overtake each other.
absl::StatusOr<Element> Uneven(const Element& in) {
  int64_t v = *in.components[0].data<int64_t>();
  std::this_thread::sleep_for(std::chrono::microseconds((v * 7919) % 300));
  return Element{{HostTensor::Scalar<int64_t>(v * v)}};
}

TEST(DatasetThreadsTest, ParallelMapKeepsTheOrder) {
  std::vector<int64_t> expected = Values(Dataset::Range(200).Shuffle(50).Map(Uneven));
  for (int threads : {0, 2, 4, 16}) {
    Dataset d = Dataset::Range(200).Shuffle(50).Map(Uneven, {.num_parallel_calls = threads});
    EXPECT_EQ(Values(d), expected);
    EXPECT_EQ(Values(d.Prefetch(5)), expected);
    EXPECT_EQ(Values(d.Batch(7).Prefetch()), expected);
  }
}

// A meeting of `n` threads; gives up after a while so that a failure does not hang.
class Meeting {
 public:
  explicit Meeting(int n) : missing_(n) {}
  bool Arrive() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ <= 0) all_.notify_all();
    return all_.wait_for(lock, std::chrono::seconds(20), [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

TEST(DatasetThreadsTest, MapRunsInParallel) {
  Meeting meeting(3);
  auto meet = [&meeting](const Element& in) -> absl::StatusOr<Element> {
    if (!meeting.Arrive()) return absl::DeadlineExceededError("the others never came");
    return in;
  };
  Dataset d = Dataset::Range(9).Map(meet, {.num_parallel_calls = 3, .spec = {{"value", DType::kInt64, {}}}});
  EXPECT_EQ(Values(d).size(), 9u);
}

TEST(DatasetThreadsTest, PrefetchWorksAheadAndNoFurther) {
  std::atomic<int> made = 0;
  std::promise<void> fourth;  // made while the first is all that was asked for
  auto count = [&](const Element& in) -> absl::StatusOr<Element> {
    if (++made == 4) fourth.set_value();
    return in;
  };
  Dataset d = Dataset::Range(100).Map(count, {.spec = {{"value", DType::kInt64, {}}}}).Prefetch(3);
  std::unique_ptr<Iterator> it = Make(d);
  EXPECT_EQ(Values(Read(*it, 1)), std::vector<int64_t>{0});
  ASSERT_EQ(fourth.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_LE(made, 4);
  EXPECT_EQ(Read(*it).size(), 99u);
  EXPECT_EQ(made, 100);
}

TEST(DatasetThreadsTest, NothingIsMadeBeforeTheFirstGetNext) {
  std::atomic<int> made = 0;
  auto count = [&](const Element& in) -> absl::StatusOr<Element> {
    ++made;
    return in;
  };
  Dataset d = Dataset::Range(100).Map(count, {.num_parallel_calls = 2, .spec = {{"value", DType::kInt64, {}}}});
  std::unique_ptr<Iterator> first = Make(d), second = Make(d);
  ASSERT_TRUE(second->RestoreState(*first->SaveState()).ok());
  EXPECT_EQ(made, 0);
}

TEST(DatasetThreadsTest, DestructionAtAnyMomentStopsTheThreads) {
  std::atomic<int> running = 0;
  auto busy = [&](const Element& in) -> absl::StatusOr<Element> {
    ++running;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    --running;
    return in;
  };
  Dataset d = Dataset::Range(1000)
                  .Repeat()
                  .Map(busy, {.num_parallel_calls = 4, .spec = {{"value", DType::kInt64, {}}}})
                  .Prefetch(8);
  for (int k = 0; k < 60; ++k) {
    std::unique_ptr<Iterator> it = Make(d);
    EXPECT_EQ(Read(*it, k % 20).size(), k % 20);
    it.reset();
    EXPECT_EQ(running, 0);
  }
}

// A thread that draws for ever, and finds nothing that stays, stops with its iterator.
TEST(DatasetThreadsTest, DestructionEndsADrawWithoutAnEnd) {
  const Dataset numbers = Dataset::Range(10).Repeat().Enumerate();  // 0, 1, ...
  const auto value = [](const Element& e) { return *e.components[0].data<int64_t>(); };
  const auto error_from_ten = [=](const Element& e) -> absl::StatusOr<Element> {
    if (value(e) < 10) return e;
    return absl::DataLossError("broken");
  };
  const std::vector<Dataset> endless = {
      numbers.Filter([=](const Element& e) { return value(e) < 10; }),
      numbers.Map(error_from_ten).IgnoreErrors({.max = INT64_MAX}),
      numbers.Dedupe([=](const Element& e) { return std::to_string(std::min<int64_t>(value(e), 9)); }),
      numbers.FlatMap([=](const Element& e) { return Dataset::Range(value(e) < 10 ? 1 : 0); }),
      numbers.Interleave([=](const Element& e) { return Dataset::Range(value(e) < 10 ? 1 : 0); }),
      numbers.Filter([=](const Element& e) { return value(e) < 10; }).Batch(5).Shuffle(1),
  };
  for (const Dataset& d : endless) {
    std::unique_ptr<Iterator> it = Make(d.Prefetch(2));
    EXPECT_FALSE(Read(*it, 1).empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    it = nullptr;
  }
}

// States saved from another thread while elements are consumed are consistent positions.
TEST(DatasetThreadsTest, SavingWhileReading) {
  Dataset d = Dataset::Range(400).Shuffle(30).Map(Uneven, {.num_parallel_calls = 3}).Prefetch(4);
  std::vector<int64_t> all = Values(d);
  std::unique_ptr<Iterator> it = Make(d);
  std::vector<std::string> states;
  std::atomic<bool> done = false;
  std::thread saver([&] {
    do {
      states.push_back(*it->SaveState());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (!done);
  });
  EXPECT_EQ(Values(Read(*it)), all);
  done = true;
  saver.join();
  for (size_t i = 0; i < states.size(); i += 1 + states.size() / 10) {
    std::unique_ptr<Iterator> resumed = Make(d);
    ASSERT_TRUE(resumed->RestoreState(states[i]).ok());
    std::vector<int64_t> rest = Values(Read(*resumed));
    ASSERT_LE(rest.size(), all.size());
    EXPECT_EQ(rest, std::vector<int64_t>(all.end() - rest.size(), all.end()));
  }
}

TEST(DatasetThreadsTest, RestoringWhileThreadsWork) {
  Dataset d = Dataset::Range(100).Map(Uneven, {.num_parallel_calls = 3}).Prefetch(6);
  std::vector<int64_t> all = Values(d);
  std::unique_ptr<Iterator> it = Make(d);
  std::string start = *it->SaveState();
  for (int64_t k = 0; k < 30; ++k) {
    EXPECT_EQ(Values(Read(*it, k)), std::vector<int64_t>(all.begin(), all.begin() + k));
    ASSERT_TRUE(it->RestoreState(start).ok());
  }
  EXPECT_EQ(Values(Read(*it)), all);
}

TEST(DatasetThreadsTest, PeekShowsWhatComesWithoutMovingOn) {
  std::unique_ptr<Iterator> it = Make(Dataset::Range(20).Batch(2).Prefetch(4));
  Element peeked, next;
  EXPECT_FALSE(it->Peek(0, &peeked));  // threads start with the first GetNext
  bool end = false;
  ASSERT_TRUE(it->GetNext(&next, &end).ok());
  while (!it->Peek(1, &peeked)) std::this_thread::yield();
  const std::string state = *it->SaveState();
  EXPECT_FALSE(it->Peek(100, &peeked));
  ASSERT_TRUE(it->Peek(1, &peeked));
  EXPECT_EQ(*it->SaveState(), state);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(it->GetNext(&next, &end).ok());
  EXPECT_EQ(next.components[0].raw(), peeked.components[0].raw());
  EXPECT_TRUE(next.components[0].BitEqual(peeked.components[0]));
  EXPECT_FALSE(Make(Dataset::Range(20).Batch(2))->Peek(0, &peeked));  // without threads nothing is there before
}

TEST(DatasetThreadsTest, IteratorsOfOneDatasetAreIndependent) {
  Dataset d = Dataset::Range(300).Shuffle(100).Repeat(2).Batch(7).Prefetch();
  std::vector<int64_t> expected = Values(d);
  std::vector<std::thread> readers;
  std::vector<std::vector<int64_t>> got(4);
  for (int i = 0; i < 4; ++i) readers.emplace_back([&, i] { got[i] = Values(d); });
  for (std::thread& t : readers) t.join();
  for (const std::vector<int64_t>& g : got) EXPECT_EQ(g, expected);
}

// An element that takes two milliseconds of computing, on whichever thread.
absl::StatusOr<Element> Busy(const Element& in) {
  for (const double start = ThreadProcessorSeconds(); ThreadProcessorSeconds() - start < 0.002;) {
  }
  return in;
}

TEST(DatasetThreadsTest, CountsTheCpuTimeOfItsThreads) {
  std::unique_ptr<Iterator> threaded = Make(Dataset::Range(10).Map(Busy, {.num_parallel_calls = 3}).Prefetch());
  EXPECT_EQ(threaded->ThreadCpuSeconds(), 0);  // they start with the first GetNext
  EXPECT_EQ(Read(*threaded).size(), 10u);
  EXPECT_GE(threaded->ThreadCpuSeconds(), 10 * 0.002);
  std::unique_ptr<Iterator> inline_work = Make(Dataset::Range(10).Map(Busy));
  EXPECT_EQ(Read(*inline_work).size(), 10u);
  EXPECT_EQ(inline_work->ThreadCpuSeconds(), 0);
}

// One Element may take all elements, wherever they are made.
TEST(DatasetThreadsTest, WhatIsMadeElsewhereHasRowsAlone) {
  for (const bool threads : {false, true}) {
    const Dataset batches = Dataset::Range(12).Batch(2);
    std::unique_ptr<Iterator> it = Make(threads ? batches.Prefetch(2) : batches);
    it->MakeOnly(/*period=*/2, /*first=*/0, /*count=*/1);
    Element e;
    for (int i = 0; i < 6; ++i) {
      bool end = false;
      ASSERT_TRUE(it->GetNext(&e, &end).ok());
      EXPECT_EQ(e.components.size(), i % 2 == 0 ? 1u : 0u) << i << threads;
      EXPECT_EQ(e.rows_elsewhere, i % 2 == 0 ? -1 : 2) << i << threads;
      EXPECT_EQ(e.rows(), 2) << i << threads;
    }
  }
}

}  // namespace
}  // namespace tandem
