#include "runtime/variables/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/align.h"

namespace tandem {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;  // limit on sizes, so that their sums do not overflow

// Returns the bytes to map for `bytes`. If they need at least half of a last huge page, all of that page is mapped.
uint64_t MappedBytes(uint64_t bytes) {
  return bytes % kHugePage >= kHugePage / 2 ? AlignUp(bytes, kHugePage) : AlignUp(bytes, getpagesize());
}

}  // namespace

bool GuardsBuffers() {
  static const bool guards = [] {
    const char* flags = std::getenv("TANDEM_FLAGS");
    if (flags == nullptr) return false;
    for (absl::string_view flag : absl::StrSplit(flags, absl::ByAnyChar(" \t\n"))) {
      if (flag == "--guard-buffers") return true;
    }
    return false;
  }();
  return guards;
}

absl::StatusOr<Arena> Arena::Create(uint64_t bytes, const char* what) {
  if (bytes == 0) bytes = 64;  // at least some bytes, so that data() is a valid address
  const absl::Status refused =
      absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes for ", what));
  if (bytes > kMaxBytes) return refused;
  const uint64_t guard = GuardsBuffers() ? kGuardBytes : 0, mapped = MappedBytes(bytes + guard);
  const bool huge = mapped >= kHugePage;
  // The system uses huge pages only for whole, aligned ones inside a mapping. So one more is reserved, and the parts
  // before the first whole huge page and behind the end are unmapped.
  const uint64_t reserved = huge ? mapped + kHugePage : mapped;
  void* reservation = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reservation == MAP_FAILED) return refused;
  uint8_t* begin = static_cast<uint8_t*>(reservation);
  if (huge) {
    const uint64_t front = AlignUp(reinterpret_cast<uintptr_t>(begin), kHugePage) - reinterpret_cast<uintptr_t>(begin);
    if (front > 0) munmap(begin, front);
    begin += front;
    if (front < kHugePage) munmap(begin + mapped, kHugePage - front);
    madvise(begin, mapped, MADV_HUGEPAGE);  // only a hint, so a failure does not matter
  }
  Arena arena;
  arena.data_ = begin;
  arena.bytes_ = bytes;
  arena.guard_bytes_ = guard;
  return arena;
}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, MappedBytes(bytes_ + guard_bytes_));
}

}  // namespace tandem
