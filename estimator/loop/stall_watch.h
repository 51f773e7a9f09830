// StallWatch: logs when something that should be quick takes long, such as a disk, a network or a data generator.
#ifndef TANDEM_ESTIMATOR_LOOP_STALL_WATCH_H_
#define TANDEM_ESTIMATOR_LOOP_STALL_WATCH_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// A thread, which mostly sleeps, watches any number of activities. It starts with the first activity. Thread-safe.
class StallWatch {
 public:
  struct Options {
    // An activity that lasts this long is reported; 0 or less: nothing is watched.
    double seconds = 10;
    // Returns nanoseconds of a monotonic clock, which tests replace; null: the system's clock.
    std::function<int64_t()> now = nullptr;
  };

  // An operation that begins and ends, once or repeatedly, on one thread. Must be destroyed before its StallWatch.
  class Activity {
   public:
    ~Activity();
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

    // Call these alternately. Both are cheap: Begin reads the clock and stores the time, End clears it.
    void Begin();
    void End();

   private:
    friend class StallWatch;
    Activity(StallWatch* watch, std::string what) : watch_(watch), what_(std::move(what)) {}

    StallWatch* const watch_;
    const std::string what_;
    std::atomic<int64_t> since_{0};  // time of Begin in nanoseconds; 0 if the activity is not running
    std::atomic<bool> named_{false};
  };

  // An activity that begins and ends with this object.
  class Scope {
   public:
    Scope(StallWatch& watch, absl::string_view what) : activity_(watch.Add(what)) { activity_->Begin(); }
    ~Scope() { activity_->End(); }

   private:
    std::unique_ptr<Activity> activity_;
  };

  explicit StallWatch(Options options);
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // `what` is the beginning of the log line "... has taken 10 s so far; still waiting.", such as "The input of mode
  // train".
  std::unique_ptr<Activity> Add(absl::string_view what);
  // Checks all activities once, as the thread does regularly; for tests.
  void Look();

 private:
  void Run();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  bool tried_thread_ = false;
  std::vector<Activity*> activities_;
  std::thread thread_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_STALL_WATCH_H_
