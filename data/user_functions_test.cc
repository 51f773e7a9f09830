// Functions of users that decide on the order are called by one thread at a time.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// Notices calls that overlap. They take a while, so that threads meet.
class CallMonitor {
 public:
  void Call() {
    if (++calls_ > 1) overlapped_ = true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --calls_;
  }
  bool overlapped() const { return overlapped_; }

 private:
  std::atomic<int> calls_ = 0;
  std::atomic<bool> overlapped_ = false;
};

int64_t Value(const Element& e) { return *e.components[0].data<int64_t>(); }

// A dataset whose function calls the monitor.
struct Case {
  std::string name;
  std::function<Dataset(CallMonitor*)> make;
  bool keeps_places = true;  // stages that keep elements by their places may follow
};

std::vector<Case> Cases() {
  const Dataset range = Dataset::Range(200);
  const auto predicate = [](CallMonitor* monitor) {
    return [monitor](const Element&) -> absl::StatusOr<bool> {
      monitor->Call();
      return true;
    };
  };
  const auto two_of_each = [](CallMonitor* monitor) {
    return [monitor](const Element& e) -> absl::StatusOr<Dataset> {
      monitor->Call();
      return Dataset::FromTensorSlices({{"value", HostTensor::FromVector<int64_t>({2}, {Value(e), Value(e)})}});
    };
  };
  return {
      {"Filter", [=](CallMonitor* m) { return range.Filter(predicate(m)); }},
      {"TakeWhile", [=](CallMonitor* m) { return range.TakeWhile(predicate(m)); }},
      {"Dedupe",
       [=](CallMonitor* m) {
         return range.Dedupe([m](const Element& e) -> absl::StatusOr<std::string> {
           m->Call();
           return std::to_string(Value(e));
         });
       }},
      {"FlatMap", [=](CallMonitor* m) { return range.FlatMap(two_of_each(m)); }},
      {"Interleave", [=](CallMonitor* m) { return range.Interleave(two_of_each(m), {.num_parallel_calls = 2}); }},
      {"BucketBySequenceLength",
       [=](CallMonitor* m) {
         const auto length = [m](const Element& e) -> absl::StatusOr<int64_t> {
           m->Call();
           return Value(e);
         };
         return range.BucketBySequenceLength(length, {100}, {2, 2});
       }},
      {"FromGenerator",
       [=](CallMonitor* m) {
         const auto next = [m](int64_t* position, Element* out, bool* end) {
           m->Call();
           *end = *position == 200;
           out->components.assign(1, HostTensor::Scalar<int64_t>((*position)++));
           return absl::OkStatus();
         };
         return Dataset::FromGenerator(next, {{"value", DType::kInt64, {}}});
       }},
      {"Scan",
       [=](CallMonitor* m) {
         const auto sum = [m](const Element& state, const Element& e, Element* next) -> absl::StatusOr<Element> {
           m->Call();
           next->components.assign(1, HostTensor::Scalar<int64_t>(Value(state) + Value(e)));
           return *next;
         };
         return range.Scan({{HostTensor::Scalar<int64_t>(0)}}, sum, {{"value", DType::kInt64, {}}});
       },
       /*keeps_places=*/false},
  };
}

TEST(UserFunctionsTest, AreCalledByOneThreadAtATimeWhilePositionsAreSaved) {
  for (const Case& c : Cases()) {
    CallMonitor monitor;
    const Dataset d = c.make(&monitor).Prefetch(4);
    const std::vector<int64_t> all = Values(d);
    std::unique_ptr<Iterator> it = Make(d);
    std::atomic<bool> done = false;
    std::thread saver([&] {
      while (!done) EXPECT_TRUE(it->SaveState().ok()) << c.name;
    });
    EXPECT_EQ(Values(Read(*it)), all) << c.name;
    done = true;
    saver.join();
    EXPECT_FALSE(monitor.overlapped()) << c.name;
  }
}

// Elements that were kept by their places are made again, by the threads of a Map.
TEST(UserFunctionsTest, AreCalledByOneThreadAtATimeAfterARestart) {
  for (const Case& c : Cases()) {
    if (!c.keeps_places) continue;
    CallMonitor monitor;
    const MapOptions in_threads = {.num_parallel_calls = 4};
    const Dataset d = c.make(&monitor).Shuffle(60).Map([](const Element& e) { return e; }, in_threads);
    const std::vector<int64_t> all = Values(d);
    std::unique_ptr<Iterator> first = Make(d), second = Make(d);
    std::vector<int64_t> read = Values(Read(*first, 5));
    ASSERT_TRUE(second->RestoreState(*first->SaveState()).ok()) << c.name;
    for (const int64_t value : Values(Read(*second))) read.push_back(value);
    EXPECT_EQ(read, all) << c.name;
    EXPECT_FALSE(monitor.overlapped()) << c.name;
  }
}

}  // namespace
}  // namespace tandem
