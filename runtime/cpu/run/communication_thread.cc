#include "runtime/cpu/run/communication_thread.h"

#include <utility>

#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<CommunicationThread>> CommunicationThread::Start() {
  std::unique_ptr<CommunicationThread> started(new CommunicationThread);
  TD_ASSIGN_OR_RETURN(started->thread_,
                      StartThread("communication with other processes", [thread = started.get()] { thread->Run(); }));
  return started;
}

CommunicationThread::~CommunicationThread() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CommunicationThread::Begin(std::function<absl::Status()> call) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back({std::move(call), std::nullopt});
  }
  changed_.notify_all();
}

absl::Status CommunicationThread::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return calls_.front().result.has_value(); });
  absl::Status result = *std::move(calls_.front().result);
  calls_.pop_front();
  --next_;
  return result;
}

void CommunicationThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || next_ < calls_.size(); });
    if (next_ == calls_.size()) return;
    Call& call = calls_[next_++];
    lock.unlock();
    absl::Status result = CatchResourceErrors("communication with other processes", call.run);
    lock.lock();
    call.result = std::move(result);
    changed_.notify_all();
  }
}

}  // namespace tandem
