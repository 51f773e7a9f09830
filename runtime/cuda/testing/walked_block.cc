#include "runtime/cuda/testing/walked_block.h"

#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr uint32_t kWarp = 32;
constexpr size_t kStackBytes = 64 << 10;
constexpr size_t kBorder = 256;  // bytes of the borders around shared memory
constexpr char kBorderByte = 0x5a;
constexpr char kGarbage = '\xff';  // first content of shared memory: NaN in every format

thread_local WalkedBlock* current_block = nullptr;

}  // namespace

WalkedBlock* WalkedBlock::Current() { return current_block; }

WalkedBlock::WalkedBlock(Thread thread, uint32_t threads, uint64_t shared_bytes, bool syncs, void** params)
    : thread_(thread), threads_(threads), shared_bytes_(shared_bytes), syncs_(syncs), params_(params) {
  shared_memory_.assign(shared_bytes + 2 * kBorder + 16, kBorderByte);
  auto address = reinterpret_cast<uintptr_t>(shared_memory_.data()) + kBorder;
  shared_ = reinterpret_cast<char*>((address + 15) & ~uintptr_t{15});
  if (!syncs_) return;
  fibers_ = std::make_unique<Fiber[]>(threads);
  stacks_ = static_cast<char*>(
      mmap(nullptr, kStackBytes * threads, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  for (uint32_t i = 0; i < threads; ++i) fibers_[i].stack = stacks_ + i * kStackBytes;
}

WalkedBlock::~WalkedBlock() {
  if (stacks_ != nullptr) munmap(stacks_, kStackBytes * threads_);
}

void WalkedBlock::Main() {
  WalkedBlock* block = current_block;
  block->thread_(block->params_);
  block->fibers_[block->current_].state = State::kDone;
  _longjmp(block->scheduler_, 1);
}

// Runs a fiber until it waits or ends. No object with a destructor is alive across the jumps.
void WalkedBlock::Continue(uint32_t i) {
  Fiber& fiber = fibers_[i];
  current_ = i;
  if (_setjmp(scheduler_) != 0) return;
  if (fiber.started) _longjmp(fiber.jump, 1);
  fiber.started = true;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, &WalkedBlock::Main, 0);
  setcontext(&fiber.context);
}

// Returns to the scheduler, until it continues this fiber.
void WalkedBlock::Pause(State state) {
  Fiber& fiber = fibers_[current_];
  fiber.state = state;
  if (_setjmp(fiber.jump) == 0) _longjmp(scheduler_, 1);
}

uint32_t WalkedBlock::Meet(Wait wait, uint32_t value, uint32_t mask) {
  fibers_[current_].value = value;
  fibers_[current_].mask = mask;
  Pause(wait == Wait::kBlock ? State::kAtBlock : wait == Wait::kWarp ? State::kAtWarp : State::kAtShuffle);
  return fibers_[current_].value;
}

void WalkedBlock::MeetWarp(WarpFunction function, void* operands) {
  fibers_[current_].function = function;
  fibers_[current_].operands = operands;
  Pause(State::kAtFunction);
}

bool WalkedBlock::WaitTogether(const Fiber& a, const Fiber& b) const {
  return a.state == b.state && (a.state != State::kAtShuffle || a.mask == b.mask) &&
         (a.state != State::kAtFunction || a.function == b.function);
}

absl::Status WalkedBlock::RunWarp(uint32_t first) {
  const uint32_t last = std::min(first + kWarp, threads_);
  for (;;) {
    for (uint32_t n = 0; n < last - first; ++n) {
      const uint32_t i = InOrder(first, last - first, n);
      if (fibers_[i].state == State::kReady) Continue(i);
    }
    const State state = fibers_[first].state;
    for (uint32_t i = first; i < last; ++i) {
      if (!WaitTogether(fibers_[first], fibers_[i])) {
        return absl::InternalError(
            absl::StrCat("block ", number_, ": threads ", first, " and ", i, " of one warp wait at different places"));
      }
    }
    if (state == State::kDone || state == State::kAtBlock) return absl::OkStatus();
    if (state == State::kAtShuffle) {
      uint32_t values[kWarp];
      for (uint32_t i = first; i < last; ++i) {
        const uint32_t from = first + ((i - first) ^ fibers_[i].mask);
        if (from >= last) {
          return absl::InternalError(
              absl::StrCat("block ", number_, ": a shuffle asks for a thread that is not there"));
        }
        values[i - first] = fibers_[from].value;
      }
      for (uint32_t i = first; i < last; ++i) fibers_[i].value = values[i - first];
    }
    if (state == State::kAtFunction) {
      void* operands[kWarp] = {};
      for (uint32_t i = first; i < last; ++i) operands[i - first] = fibers_[i].operands;
      fibers_[first].function(operands);
    }
    for (uint32_t i = first; i < last; ++i) fibers_[i].state = State::kReady;
  }
}

absl::Status WalkedBlock::CheckShared() const {
  const char* end = shared_memory_.data() + shared_memory_.size();
  for (const char* p = shared_memory_.data(); p < end; ++p) {
    if (p == shared_) p += shared_bytes_;
    if (p < end && *p != kBorderByte) {
      return absl::InternalError(
          absl::StrCat("block ", number_, " writes to offset ", p - shared_, " of ", shared_bytes_, " shared bytes"));
    }
  }
  return absl::OkStatus();
}

absl::Status WalkedBlock::Run(uint32_t number, bool backwards) {
  number_ = number;
  backwards_ = backwards;
  std::memset(shared_, kGarbage, shared_bytes_);
  current_block = this;
  if (!syncs_) {
    for (uint32_t n = 0; n < threads_; ++n) {
      current_ = InOrder(0, threads_, n);
      thread_(params_);
    }
    return CheckShared();
  }
  for (uint32_t i = 0; i < threads_; ++i) {
    fibers_[i].state = State::kReady;
    fibers_[i].started = false;
  }
  for (;;) {
    const uint32_t warps = (threads_ + kWarp - 1) / kWarp;
    for (uint32_t n = 0; n < warps; ++n) TD_RETURN_IF_ERROR(RunWarp(InOrder(0, warps, n) * kWarp));
    const State state = fibers_[0].state;
    for (uint32_t i = 0; i < threads_; ++i) {
      if (fibers_[i].state != state) {
        return absl::InternalError(
            absl::StrCat("block ", number_, ": thread ", i, " does not meet thread 0 at a barrier"));
      }
      if (state == State::kAtBlock) fibers_[i].state = State::kReady;
    }
    if (state == State::kDone) return CheckShared();
  }
}

}  // namespace tandem
