// Distributes the microbatches of a lane (a part of the batch): to its own thread from the front, and to threads
// without a lane (helpers) from the back.
//
// A lane's sum adds its microbatches from first to last, whichever thread computes them: a thread adds its microbatch
// when those before it have been added. So threads that run out of lanes shorten the end of a section, and no bit
// depends on which thread helped.
#ifndef TANDEM_RUNTIME_CPU_STEP_LANE_PROGRESS_H_
#define TANDEM_RUNTIME_CPU_STEP_LANE_PROGRESS_H_

#include <atomic>
#include <cstdint>

namespace tandem {

// Every thread that claims a microbatch calls AwaitTurn and then Done for it, also after an error.
class alignas(64) LaneProgress {
 public:
  // Starts a new section. No other thread may use the object meanwhile. `microbatches` >= 0.
  void Reset(int32_t microbatches) {
    microbatches_ = microbatches;
    claims_.store(0, std::memory_order_relaxed);
    added_.store(0, std::memory_order_relaxed);
  }

  // Returns the next microbatch, for the lane's own thread; -1: none is left.
  int32_t ClaimNext() { return Claim(kFront); }
  // For a helper: returns the last microbatch that no thread has claimed; -1 if none is left. It never returns the
  // first one, which begins the sum.
  int32_t ClaimLast() { return Claim(kBack); }

  // Returns how many microbatches ClaimLast could still return; 0 or less if none.
  int32_t claimable() const {
    const uint64_t claims = claims_.load(std::memory_order_relaxed);
    return Unclaimed(claims) - (Begun(claims) ? 0 : 1);
  }

  // Returns when all microbatches before `microbatch` are done. This cannot block for ever: a helper gets a microbatch
  // only after the lane's own thread has claimed its first one, and that thread claims, or has claimed, all
  // microbatches before the helpers'. So running threads work on them.
  void AwaitTurn(int32_t microbatch) const {
    for (int32_t n; (n = added_.load(std::memory_order_acquire)) != microbatch;)
      added_.wait(n, std::memory_order_acquire);
  }
  void Done(int32_t microbatch) {
    added_.store(microbatch + 1, std::memory_order_release);
    added_.notify_all();
  }

 private:
  static constexpr uint64_t kFront = 1, kBack = uint64_t{1} << 32;

  int32_t Unclaimed(uint64_t claims) const {
    return microbatches_ - static_cast<int32_t>(claims) - static_cast<int32_t>(claims >> 32);
  }

  // True if the first microbatch is claimed.
  static bool Begun(uint64_t claims) { return static_cast<int32_t>(claims) > 0; }

  int32_t Claim(uint64_t end) {
    uint64_t claims = claims_.load(std::memory_order_relaxed);
    do {
      if (Unclaimed(claims) <= (end == kBack && !Begun(claims) ? 1 : 0)) return -1;
    } while (!claims_.compare_exchange_weak(claims, claims + end, std::memory_order_relaxed));
    return end == kFront ? static_cast<int32_t>(claims) : microbatches_ - 1 - static_cast<int32_t>(claims >> 32);
  }

  int32_t microbatches_ = 0;
  std::atomic<uint64_t> claims_{0};  // number of claims: from the front in the low half, from the back in the high half
  std::atomic<int32_t> added_{0};    // number of microbatches that are in the lane's sum
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STEP_LANE_PROGRESS_H_
