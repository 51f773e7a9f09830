#include "runtime/arena.h"

#include <sys/mman.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tandem {

absl::StatusOr<Arena> Arena::Create(uint64_t bytes, const char* what) {
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  Arena arena;
  if (bytes == 0) bytes = 64;  // so that data() is a valid address
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes for ", what));
  }
  if (bytes >= kHugePage) madvise(p, bytes, MADV_HUGEPAGE);  // a hint: failing is fine
  arena.data_ = static_cast<uint8_t*>(p);
  arena.bytes_ = bytes;
  return arena;
}

Arena::~Arena() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace tandem
