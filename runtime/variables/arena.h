// Zeroed memory that does not move: arenas of sessions and buffers of variables.
#ifndef TANDEM_RUNTIME_VARIABLES_ARENA_H_
#define TANDEM_RUNTIME_VARIABLES_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace tandem {

// Page-aligned anonymous memory. From 1 MiB on it begins at a huge page (2 MiB) and asks the system for huge pages.
// Without them, scattered small pages may compete for the same sets of a cache, and kernels that need a whole cache run
// at one of several speeds, by chance. Pages cost nothing until they are accessed. Move-only. With
// TANDEM_FLAGS=--guard-buffers, kGuardBytes bytes follow that nothing may access (runtime/cpu/run/buffer_guard.h).
class Arena {
 public:
  Arena() = default;
  // Returns ResourceExhausted when the system does not provide `bytes`; `what` names the use in the message.
  static absl::StatusOr<Arena> Create(uint64_t bytes, const char* what);
  ~Arena();
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(guard_bytes_, other.guard_bytes_);
    return *this;
  }

  uint8_t* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  // Number of guard bytes behind the bytes() that may be used; 0 without --guard-buffers.
  uint64_t guard_bytes() const { return guard_bytes_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t guard_bytes_ = 0;
};

inline constexpr uint64_t kGuardBytes = 4096;

// True if guards around buffers are requested: the environment variable TANDEM_FLAGS has --guard-buffers. It is read
// once.
bool GuardsBuffers();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_VARIABLES_ARENA_H_
