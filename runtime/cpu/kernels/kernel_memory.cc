#include "runtime/cpu/kernels/kernel_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/posix_error.h"

namespace tandem {

KernelMemory::KernelMemory(KernelMemory&& other) noexcept { *this = std::move(other); }

KernelMemory& KernelMemory::operator=(KernelMemory&& other) noexcept {
  std::swap(areas_, other.areas_);
  return *this;
}

KernelMemory::~KernelMemory() {
  if (size() > 0) munmap(areas_.front(), size());
}

absl::StatusOr<KernelMemory> KernelMemory::Map(const std::array<uint64_t, kMemoryKinds>& sizes,
                                               const std::string& name) {
  const uint64_t page = std::max<uint64_t>(getpagesize(), kMaxSectionAlignment);
  std::array<uint64_t, kMemoryKinds + 1> begins = {};
  for (int i = 0; i < kMemoryKinds; ++i) begins[i + 1] = begins[i] + AlignUp(sizes[i], page);
  KernelMemory memory;
  if (begins.back() == 0) return memory;
  void* mapped = mmap(nullptr, begins.back(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return PosixError(errno, absl::StrCat("map ", begins.back(), " bytes for kernels"), name);
  for (int i = 0; i <= kMemoryKinds; ++i) memory.areas_[i] = static_cast<char*>(mapped) + begins[i];
  return memory;
}

absl::Status KernelMemory::Protect(const std::string& name) {
  constexpr struct {
    MemoryKind kind;
    int access;
    const char* what;
  } kAreas[] = {{MemoryKind::kCode, PROT_READ | PROT_EXEC, " bytes of kernels' code executable"},
                {MemoryKind::kConstants, PROT_READ, " bytes of kernels' constants read-only"}};
  for (const auto& a : kAreas) {
    const uint64_t bytes = areas_[static_cast<size_t>(a.kind) + 1] - area(a.kind);
    if (bytes > 0 && mprotect(area(a.kind), bytes, a.access) != 0) {
      return PosixError(errno, absl::StrCat("make ", bytes, a.what), name);
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
