// Meeting: a barrier at which processes that share memory (SharedMapping) wait for each other.
#ifndef TANDEM_RUNTIME_COLLECTIVES_MEETING_H_
#define TANDEM_RUNTIME_COLLECTIVES_MEETING_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/collectives/shared_mapping.h"

namespace tandem {

// There are no locks, so that a process that dies cannot leave one locked: each rank writes only its own place, and
// counts there how often it has arrived. Calls are made from one thread, Abort from any.
class Meeting {
 public:
  // The collective that a rank has called, which the other ranks compare with their own.
  struct Call {
    uint64_t fingerprint = 0;
    int64_t bytes = 0;
  };
  // A rank's place in the mapping, all zero at first.
  struct alignas(128) Place {
    std::atomic<uint32_t> arrivals;
    std::atomic<uint32_t> sleepers;  // number of ranks that wait in the kernel for `arrivals` to change
    std::atomic<uint32_t> left;      // 1 if this rank makes no more calls
    alignas(64) Call calls[2];       // the calls of this meeting and of the one before
  };

  // `places` has one place for each rank, and lies in `mapping`.
  Meeting(Place* places, int rank, int size, const SharedMapping* mapping, absl::Duration deadline);
  // Leaves the group: calls of the other ranks fail from now on.
  ~Meeting();

  // Begins a collective, and with it the time until its deadline. At its first meeting, the other ranks compare `call`
  // with their own.
  absl::Status Begin(absl::string_view what, const Call& call);

  // Arrives and waits for all other ranks. Afterwards all ranks can read what any rank wrote before it arrived. Two
  // buffers that are used by turns (`turn`) are enough for data that is written before one meeting and read until the
  // next.
  absl::Status Meet();
  // Returns 0 or 1: the buffer for data that is written before the next meeting.
  int turn() const { return (met_ + 1) & 1; }

  void Abort(const absl::Status& why);
  // May be called from any thread.
  absl::Status FirstError() const;

  // True if this process may use as many cores as there are ranks.
  bool has_core_for_each() const { return spin_.count() > 0; }

 private:
  absl::Status WaitFor(int peer);
  absl::Status CheckCalls();
  absl::Status Fail(const absl::Status& status);

  Place* const places_;
  const int rank_, size_;
  const SharedMapping* const mapping_;
  const absl::Duration deadline_;
  const std::chrono::nanoseconds spin_;
  uint32_t met_ = 0;
  bool first_of_call_ = false;
  Call call_;
  std::string what_;
  std::chrono::steady_clock::time_point call_ends_;
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  absl::Status first_error_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_MEETING_H_
