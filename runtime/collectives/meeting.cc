#include "runtime/collectives/meeting.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

using std::chrono::steady_clock;

// How long a wait in the kernel lasts before it checks whether the peer's process still exists.
constexpr auto kSlice = std::chrono::milliseconds(20);
// Waits spin at first, so that ranks that arrive at about the same time meet without the kernel, which takes about 50
// microseconds to wake a thread. Then they yield (kYields times) before they sleep. An all-reduce of a megabyte has
// eight meetings. Measured with spins of 5 and 100 us, which differ by 6 % for scenario S4 (a small convnet) on two
// workers.
constexpr std::chrono::nanoseconds kSpin = std::chrono::microseconds(100);
constexpr int kYields = 16;

// Returns 0 when there are more ranks than cores: spinning would take a core from the ranks that are waited for.
std::chrono::nanoseconds SpinTime(int size) {
  cpu_set_t cores;
  const bool room = sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) >= size;
  return room ? kSpin : std::chrono::nanoseconds(0);
}

// Sleeps until WakeAll, or for `most`, if the word is still `seen`. No private futex: other processes share the word.
void Wait(std::atomic<uint32_t>* word, uint32_t seen, std::chrono::nanoseconds most) {
  timespec timeout = {};
  timeout.tv_nsec = std::max<int64_t>(most.count(), 1000);
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

Meeting::Meeting(Place* places, int rank, int size, const SharedMapping* mapping, absl::Duration deadline)
    : places_(places), rank_(rank), size_(size), mapping_(mapping), deadline_(deadline), spin_(SpinTime(size)) {}

Meeting::~Meeting() {
  places_[rank_].left.store(1);
  WakeAll(&places_[rank_].arrivals);
}

absl::Status Meeting::Begin(absl::string_view what, const Call& call) {
  if (failed_.load(std::memory_order_relaxed)) return FirstError();
  what_.assign(what.data(), what.size());
  call_ends_ = steady_clock::now() + absl::ToChronoMilliseconds(deadline_);
  call_ = call;
  first_of_call_ = true;
  return absl::OkStatus();
}

absl::Status Meeting::Meet() {
  Place& mine = places_[rank_];
  if (first_of_call_) mine.calls[turn()] = call_;
  ++met_;
  // This store is sequentially consistent, like the accesses to `sleepers`. So either this rank sees that another one
  // sleeps, or the other one sees this arrival before it sleeps.
  mine.arrivals.store(met_);
  if (mine.sleepers.load() != 0) WakeAll(&mine.arrivals);
  for (int i = 1; i < size_; ++i) TD_RETURN_IF_ERROR(WaitFor((rank_ + i) % size_));
  if (!first_of_call_) return absl::OkStatus();
  first_of_call_ = false;
  return CheckCalls();
}

absl::Status Meeting::WaitFor(int peer) {
  Place& place = places_[peer];
  auto come = [&] { return static_cast<int32_t>(place.arrivals.load(std::memory_order_acquire) - met_) >= 0; };
  if (come()) return absl::OkStatus();
  if (spin_.count() > 0) {
    const auto until = steady_clock::now() + spin_;
    do {
      for (int i = 0; i < 32; ++i) {
        if (come()) return absl::OkStatus();
        _mm_pause();
      }
    } while (steady_clock::now() < until);
  }
  // The peer may be waiting for this core even if there are enough cores, so this yields before it sleeps.
  for (int i = 0; i < kYields; ++i) {
    sched_yield();
    if (come()) return absl::OkStatus();
  }
  for (;;) {
    if (failed_.load()) return FirstError();
    const auto rest = call_ends_ - steady_clock::now();
    place.sleepers.fetch_add(1);
    const uint32_t seen = place.arrivals.load();
    if (static_cast<int32_t>(seen - met_) < 0 && place.left.load() == 0) {
      Wait(&place.arrivals, seen, std::min<std::chrono::nanoseconds>(kSlice, rest));
    }
    place.sleepers.fetch_sub(1);
    if (come()) return absl::OkStatus();
    if (place.left.load() != 0 || !mapping_->Lives(peer)) {
      if (come()) return absl::OkStatus();  // the peer arrived before it left
      return Fail(absl::UnavailableError(absl::StrCat(what_, ": rank ", peer, " of ", size_, " is lost: its process ",
                                                      place.left.load() != 0 ? "has left the group" : "has ended")));
    }
    if (steady_clock::now() >= call_ends_) {
      return Fail(absl::UnavailableError(absl::StrCat(what_, ": rank ", peer, " of ", size_, " did not answer within ",
                                                      absl::FormatDuration(deadline_))));
    }
  }
}

absl::Status Meeting::CheckCalls() {
  for (int r = 0; r < size_; ++r) {
    const Call& other = places_[r].calls[met_ & 1];
    if (other.fingerprint == call_.fingerprint && other.bytes == call_.bytes) continue;
    return Fail(absl::InternalError(absl::StrCat(what_, ": the ranks make different calls: rank ", r, " one of ",
                                                 other.bytes, " bytes, rank ", rank_, " one of ", call_.bytes)));
  }
  return absl::OkStatus();
}

absl::Status Meeting::Fail(const absl::Status& status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (first_error_.ok()) first_error_ = status;
    failed_ = true;
  }
  // Tells the other ranks, so that they need not wait for their deadline.
  places_[rank_].left.store(1);
  WakeAll(&places_[rank_].arrivals);
  return FirstError();
}

absl::Status Meeting::FirstError() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return first_error_;
}

void Meeting::Abort(const absl::Status& why) {
  (void)Fail(why.ok() ? absl::CancelledError("the group was aborted") : why);
  // Wakes this process's own thread, which may be waiting for the arrival of any rank.
  for (int r = 0; r < size_; ++r) WakeAll(&places_[r].arrivals);
}

}  // namespace tandem
