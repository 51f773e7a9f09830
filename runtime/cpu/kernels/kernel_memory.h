// Memory for loaded kernels. None of it is writable and executable at the same time.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_KERNEL_MEMORY_H_
#define TANDEM_RUNTIME_CPU_KERNELS_KERNEL_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cpu/kernels/elf_object.h"

namespace tandem {

// The most bytes of one kind of memory, so that the distance between any two bytes fits into 32 bits.
inline constexpr uint64_t kMaxMemoryOfKind = uint64_t{1} << 29;

// One mapping with an area for each kind of memory. All of it is writable until Protect is called.
class KernelMemory {
 public:
  KernelMemory() = default;  // an object without areas
  KernelMemory(KernelMemory&& other) noexcept;
  KernelMemory& operator=(KernelMemory&& other) noexcept;
  ~KernelMemory();

  // Maps areas of at least these sizes, each at most kMaxMemoryOfKind, in the order of MemoryKind. They are zero, and
  // begin at multiples of kMaxSectionAlignment. `name` stands in messages for what is loaded.
  // Errors: ResourceExhausted (exit code 74) with the number of bytes.
  static absl::StatusOr<KernelMemory> Map(const std::array<uint64_t, kMemoryKinds>& sizes, const std::string& name);

  char* area(MemoryKind kind) const { return areas_[static_cast<size_t>(kind)]; }

  // Makes code executable and constants readable, and neither writable.
  // Errors: ResourceExhausted, or PermissionDenied where the system forbids programs to make code (exit code 74).
  absl::Status Protect(const std::string& name);

 private:
  uint64_t size() const { return areas_.back() - areas_.front(); }

  std::array<char*, kMemoryKinds + 1> areas_ = {};  // where each area begins, and the end of the last one
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_KERNEL_MEMORY_H_
