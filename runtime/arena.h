// Zeroed memory that does not move: arenas of sessions and buffers of variables.
#ifndef TANDEM_RUNTIME_ARENA_H_
#define TANDEM_RUNTIME_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace tandem {

// Page-aligned anonymous memory; from 1 MiB on it begins at a huge page (2 MiB) and asks for those. Scattered small
// pages may meet in the same sets of a cache: kernels that fill one then run at one of several speeds, by chance. Pages
// cost nothing until they are touched. Move-only.
class Arena {
 public:
  Arena() = default;
  // ResourceExhausted when the system does not give `bytes`; `what` names the use in the message.
  static absl::StatusOr<Arena> Create(uint64_t bytes, const char* what);
  ~Arena();
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  uint8_t* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_ARENA_H_
