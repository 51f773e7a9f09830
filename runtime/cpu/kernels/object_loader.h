// Loads the kernels: the ELF objects of an executable, in which it finds the symbols. The only part of the runtime that
// uses LLVM.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_OBJECT_LOADER_H_
#define TANDEM_RUNTIME_CPU_KERNELS_OBJECT_LOADER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/executable/executable.h"

namespace tandem {

// The entry of a kernel: see docs/developers/internals.md, "The kernel ABI".
using KernelFunction = void (*)(void* const* args, int64_t begin, int64_t end, int64_t row_offset);

// Owns the machine code; functions are valid while it lives.
class LoadedKernels {
 public:
  virtual ~LoadedKernels() = default;

  // Loads all objects and looks every kernel's symbol up now, so that nothing can be missing later. Objects may call
  // only functions of the C library that are on an allow-list (mathematics, memcpy, memset, memmove).
  // Errors: FailedPrecondition "compiled for avx512f ..." when this machine lacks a feature of Index.target;
  // DataLoss (exit code 65) for an object that cannot be linked or a missing symbol, naming kernel and symbol.
  static absl::StatusOr<std::unique_ptr<LoadedKernels>> Load(const Executable& executable);

  // Returns the function of a kernel, by its index in the executable's `kernels`.
  virtual KernelFunction function(int kernel) const = 0;
};

// Checks that this machine can run code for `target`, "x86-64 avx512f avx512vl ...". FailedPrecondition names the
// features that it lacks.
absl::Status CheckTargetFeatures(absl::string_view target);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_OBJECT_LOADER_H_
