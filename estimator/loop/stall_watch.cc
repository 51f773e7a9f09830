#include "estimator/loop/stall_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "base/logging.h"
#include "base/threads.h"

namespace tandem {
namespace {

int64_t SteadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

StallWatch::Options WithClock(StallWatch::Options options) {
  if (!options.now) options.now = SteadyNow;
  return options;
}

}  // namespace

StallWatch::StallWatch(Options options) : options_(WithClock(std::move(options))) {}

StallWatch::~StallWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<StallWatch::Activity> StallWatch::Add(absl::string_view what) {
  std::unique_ptr<Activity> activity(new Activity(this, std::string(what)));
  std::lock_guard<std::mutex> lock(mutex_);
  activities_.push_back(activity.get());
  if (options_.seconds > 0 && !std::exchange(tried_thread_, true)) {
    absl::StatusOr<std::thread> thread = StartThread("naming what stands still", [this] { Run(); });
    if (thread.ok()) {
      thread_ = *std::move(thread);
    } else {
      TD_LOG(WARNING) << "what stands still will not be named: " << thread.status().message();
    }
  }
  return activity;
}

void StallWatch::Run() {
  const auto pause = std::chrono::duration<double>(options_.seconds / 4);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_.wait_for(lock, pause, [this] { return stop_; })) {
    lock.unlock();
    Look();
    lock.lock();
  }
}

void StallWatch::Look() {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t now = options_.now();
  for (Activity* activity : activities_) {
    const int64_t since = activity->since_;
    if (since == 0 || activity->named_ || 1e-9 * static_cast<double>(now - since) < options_.seconds) continue;
    activity->named_ = true;
    // End clears since_ first and then reads named_. Here named_ is set first, and since_ is read again. So if both run
    // at the same time, one of them notices the other.
    if (activity->since_ != since) {
      activity->named_ = false;
      continue;
    }
    TD_LOG(WARNING) << activity->what_
                    << absl::StrFormat(" has taken %.3g s so far; still waiting.", 1e-9 * (now - since));
  }
}

StallWatch::Activity::~Activity() {
  std::lock_guard<std::mutex> lock(watch_->mutex_);
  std::erase(watch_->activities_, this);
}

// At least 1, since 0 means that the activity is not running.
void StallWatch::Activity::Begin() { since_ = std::max<int64_t>(watch_->options_.now(), 1); }

void StallWatch::Activity::End() {
  const int64_t since = since_.exchange(0);
  if (!named_) return;
  std::lock_guard<std::mutex> lock(watch_->mutex_);
  if (!named_.exchange(false)) return;
  TD_LOG(INFO) << what_ << absl::StrFormat(" went on after %.3g s.", 1e-9 * (watch_->options_.now() - since));
}

}  // namespace tandem
