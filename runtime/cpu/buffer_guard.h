// Watches the memory between a session's buffers (TANDEM_FLAGS=--guard-buffers).
//
// Every byte of an arena that no buffer covers, what lies behind the arenas and the variables, and behind copies of the
// inputs holds a pattern. A command that changed it is named, with the buffer in front. The compiler leaves such bytes
// behind every buffer when it has the flag too; without, there are only those that alignment leaves. With the address
// sanitizer they are poisoned, so that the access itself is reported.
#ifndef TANDEM_RUNTIME_CPU_BUFFER_GUARD_H_
#define TANDEM_RUNTIME_CPU_BUFFER_GUARD_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/arena.h"
#include "runtime/cpu/step_state.h"
#include "runtime/executable.h"
#include "runtime/variable_store.h"

namespace tandem {

class BufferGuard {
 public:
  // Fills the zones. The arenas of `state` must not change any more; its lanes run one by one, not together.
  BufferGuard(const Executable& executable, const StepState& state, uint64_t library_bytes);
  ~BufferGuard();
  BufferGuard(const BufferGuard&) = delete;
  BufferGuard& operator=(const BufferGuard&) = delete;

  // Makes the inputs of `state`, set for a step, copies with zones behind their rows.
  absl::Status TakeInputs(StepState& state);

  // Whether the memory of `thread` alone is as it should be. If not, `command` is to blame, and status() says so.
  bool CheckThread(int thread, const format::Command& command);
  // The same for all memory, when no command runs. `commands`: one of them is to blame.
  absl::Status CheckAll(absl::string_view commands);

 private:
  struct Zone {
    uint8_t* begin;
    uint64_t bytes;
    std::string behind;  // the buffer in front
  };
  using Zones = std::vector<Zone>;

  // The zones between the buffers of `space` in one arena, or one lane's slot of `bytes` bytes at `begin`.
  void AddGaps(const format::Program& program, format::Space space, absl::string_view where, uint8_t* begin,
               uint64_t bytes, Zones& zones);
  void Add(uint8_t* begin, uint64_t bytes, std::string behind, Zones& zones);
  // The first zone that was changed as an error; marks it as whole again.
  absl::Status Check(const Zones& zones, absl::string_view commands) const;

  const Executable& executable_;
  std::vector<Zones> threads_;
  Zones shared_, inputs_;
  std::vector<Arena> input_copies_;  // by device and input
  std::mutex mutex_;
  absl::Status status_;  // of the first thread that found something
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_BUFFER_GUARD_H_
