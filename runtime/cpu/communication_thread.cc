#include "runtime/cpu/communication_thread.h"

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
    calls_.push_back(std::move(call));
  }
  changed_.notify_all();
}

absl::Status CommunicationThread::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !results_.empty(); });
  absl::Status result = std::move(results_.front());
  results_.pop_front();
  return result;
}

void CommunicationThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !calls_.empty(); });
    if (calls_.empty()) return;
    std::function<absl::Status()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    absl::Status result = CatchResourceErrors("communication with other processes", call);
    lock.lock();
    results_.push_back(std::move(result));
    changed_.notify_all();
  }
}

}  // namespace tandem
