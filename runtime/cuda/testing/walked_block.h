// One block of threads, run on the CPU.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_WALKED_BLOCK_H_
#define TANDEM_RUNTIME_CUDA_TESTING_WALKED_BLOCK_H_

#include <csetjmp>
#include <cstdint>
#include <memory>
#include <vector>

#include <ucontext.h>

#include "absl/status/status.h"

namespace tandem {

// The block that the functions of passes/codegen/gpu/device.h act on. Used by one thread of the host at a time.
class WalkedBlock {
 public:
  using Thread = void (*)(void** params);

  WalkedBlock(Thread thread, uint32_t threads, uint64_t shared_bytes, bool syncs, void** params);
  ~WalkedBlock();
  WalkedBlock(const WalkedBlock&) = delete;
  WalkedBlock& operator=(const WalkedBlock&) = delete;

  // Runs all threads of block `number` to their end, each until it has to wait: the first one first, or the last one
  // when `backwards`. A GPU takes warps in any order, so if `backwards` changes the result, a barrier is missing.
  absl::Status Run(uint32_t number, bool backwards = false);

  // Called by threads when they wait. `value` and `mask` are a shuffle's; the result is the value that the other thread
  // gave.
  enum class Wait { kBlock, kWarp, kShuffle };
  uint32_t Meet(Wait wait, uint32_t value, uint32_t mask);
  // Called by the 32 threads of a warp for what they compute together: calls `function` once with their `operands`, in
  // the order of the threads.
  using WarpFunction = void (*)(void* const* operands);
  void MeetWarp(WarpFunction function, void* operands);
  uint32_t thread() const { return current_; }
  uint32_t number() const { return number_; }
  void* shared() { return shared_; }

  // Returns the block that runs on this thread of the host.
  static WalkedBlock* Current();

 private:
  enum class State { kReady, kAtBlock, kAtWarp, kAtShuffle, kAtFunction, kDone };
  struct Fiber {
    State state = State::kReady;
    bool started = false;
    jmp_buf jump;
    ucontext_t context;
    char* stack = nullptr;
    uint32_t value = 0, mask = 0;
    WarpFunction function = nullptr;
    void* operands = nullptr;
  };

  static void Main();
  void Continue(uint32_t fiber);
  void Pause(State state);
  // True if the threads of a warp wait at the same place.
  bool WaitTogether(const Fiber& a, const Fiber& b) const;
  absl::Status RunWarp(uint32_t first);
  // Returns the n-th thread to run, of `count` threads from `first` on.
  uint32_t InOrder(uint32_t first, uint32_t count, uint32_t n) const {
    return backwards_ ? first + count - 1 - n : first + n;
  }
  absl::Status CheckShared() const;

  Thread thread_;
  uint32_t threads_;
  uint64_t shared_bytes_;
  bool syncs_;
  void** params_;
  uint32_t number_ = 0, current_ = 0;
  bool backwards_ = false;
  std::vector<char> shared_memory_;
  char* shared_ = nullptr;
  std::unique_ptr<Fiber[]> fibers_;
  char* stacks_ = nullptr;
  jmp_buf scheduler_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_WALKED_BLOCK_H_
