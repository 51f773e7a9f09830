// CommunicationThread: a thread that exchanges values with the other processes while the commands of a step run.
#ifndef TANDEM_RUNTIME_CPU_RUN_COMMUNICATION_THREAD_H_
#define TANDEM_RUNTIME_CPU_RUN_COMMUNICATION_THREAD_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// Calls run one after another, in the order of Begin, on a thread of their own. Begin and Wait must be called from one
// thread.
class CommunicationThread {
 public:
  // ResourceExhausted when no thread can be started.
  static absl::StatusOr<std::unique_ptr<CommunicationThread>> Start();
  // Waits until all calls that have begun have ended.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  void Begin(std::function<absl::Status()> call);
  // Waits for the first call that has not been waited for; there must be one. Returns its status; an exception that it
  // threw is returned as a status too.
  absl::Status Wait();

 private:
  struct Call {
    std::function<absl::Status()> run;
    // is allocated before the call begins, because memory may have run out when it ends
    std::optional<absl::Status> result;
  };

  CommunicationThread() = default;
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> calls_;  // calls that have not been waited for
  size_t next_ = 0;         // index in calls_ of the first call that has not begun
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_COMMUNICATION_THREAD_H_
