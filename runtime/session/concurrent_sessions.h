// ConcurrentSessions: makes steps of one program for several callers at the same time.
#ifndef TANDEM_RUNTIME_SESSION_CONCURRENT_SESSIONS_H_
#define TANDEM_RUNTIME_SESSION_CONCURRENT_SESSIONS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"
#include "runtime/session/session.h"
#include "runtime/threads/thread_pool.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// A session for each step that runs, made when so many steps run for the first time and kept. All sessions share
// machine code, variables and what follows from these alone; each has the memory of its own steps.
//
// One step alone uses all threads. Where several run, each uses its caller's thread and those of the pool that no other
// step uses. A step waits only if `steps` others run. Results do not depend on how many steps run.
class ConcurrentSessions {
 public:
  struct Options {
    int threads = 1;                // threads of all steps together, at least one; the callers' are among them
    int steps = 0;                  // how many steps may run at the same time; 0: as many as threads
    Session::Options session = {};  // everything but the pool
  };
  // Makes the first session and lets it compute what follows from the variables. These must have their values and must
  // not change any more. On devices whose sessions have no siblings (GPUs), steps run one after another. Errors: those
  // of ThreadPool::Create and Session::Create.
  static absl::StatusOr<std::unique_ptr<ConcurrentSessions>> Create(const DeviceClass& device_class,
                                                                    std::shared_ptr<const Executable> executable,
                                                                    std::shared_ptr<VariableStore> variables,
                                                                    Options options);

  // Makes a step, as Session::Run does. Thread-safe.
  absl::StatusOr<StepResult> Run(const StepInputs& inputs, const std::vector<int>& fetches);

 private:
  struct alignas(64) Slot {
    std::atomic<bool> taken{false};
    std::unique_ptr<Session> session;  // used by who has taken the slot; null until it is taken for the first time
  };
  // Has a slot to itself while it lives.
  class Lease;

  ConcurrentSessions(std::shared_ptr<ThreadPool> pool, int steps) : pool_(std::move(pool)), slots_(steps) {}

  // Makes a step without rows.
  absl::Status MakeEmptyStep(const Executable& executable);
  // Returns a slot that was free and is now taken; null if there is none.
  Slot* TryTake();
  Slot* Take();
  void GiveBack(Slot& slot);

  const std::shared_ptr<ThreadPool> pool_;
  std::vector<Slot> slots_;  // the session of the first one, which the others depend on, is always there
  std::atomic<int> waiting_{0};
  // Only for callers that find all slots taken.
  std::mutex mutex_;
  std::condition_variable given_back_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_CONCURRENT_SESSIONS_H_
