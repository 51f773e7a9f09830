// Watches the memory between a session's buffers (TANDEM_FLAGS=--guard-buffers).
//
// A pattern is written to every byte of an arena that no buffer covers, to the guards behind arenas and variables, and
// to the bytes behind copies of the inputs. When a command has changed such a byte, the error names the command and the
// buffer in front of the byte. When the compiler has the flag too, it leaves such bytes behind every buffer; otherwise
// there are only those that alignment leaves. In builds with the address sanitizer the bytes are poisoned, so that the
// access itself is reported.
#ifndef TANDEM_RUNTIME_CPU_RUN_BUFFER_GUARD_H_
#define TANDEM_RUNTIME_CPU_RUN_BUFFER_GUARD_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/executable/executable.h"
#include "runtime/variables/arena.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

class BufferGuard {
 public:
  // Writes the pattern to all zones (the bytes between and behind buffers). From now on the arenas of `state` must stay
  // where they are, and its lanes must run one by one, not together.
  BufferGuard(const Executable& executable, const StepState& state, uint64_t library_bytes);
  ~BufferGuard();
  BufferGuard(const BufferGuard&) = delete;
  BufferGuard& operator=(const BufferGuard&) = delete;

  // Replaces the inputs of `state`, which are set for a step, by copies with zones (watched bytes) behind their rows.
  absl::Status TakeInputs(StepState& state);

  // True if the zones in the memory that only `thread` uses are unchanged. If not, `command` is named as the cause, and
  // the next CheckAll returns the error.
  bool CheckThread(int thread, const format::Command& command);
  // Checks all zones (watched bytes), while no command runs. `commands` says, in the error, which commands may have
  // changed them.
  absl::Status CheckAll(absl::string_view commands);

 private:
  struct Zone {
    uint8_t* begin;
    uint64_t bytes;
    std::string behind;  // name of the buffer in front of the zone
  };
  using Zones = std::vector<Zone>;

  // Adds the zones between the buffers of `space`, in one arena or in one lane's slot: the `bytes` bytes at `begin`.
  void AddGaps(const format::Program& program, format::Space space, absl::string_view where, uint8_t* begin,
               uint64_t bytes, Zones& zones);
  void Add(uint8_t* begin, uint64_t bytes, std::string behind, Zones& zones);
  // Returns an error for the first zone whose bytes have changed.
  absl::Status Check(const Zones& zones, absl::string_view commands) const;

  const Executable& executable_;
  std::vector<Zones> threads_;
  Zones shared_, inputs_;
  std::vector<Arena> input_copies_;  // indexed by device and input
  std::mutex mutex_;
  absl::Status status_;  // error of the first thread that found a change
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_BUFFER_GUARD_H_
