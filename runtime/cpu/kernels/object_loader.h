// Loads the kernels of an executable: its ELF objects, in which it looks up the kernels' symbols.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_OBJECT_LOADER_H_
#define TANDEM_RUNTIME_CPU_KERNELS_OBJECT_LOADER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cpu/kernels/kernel_memory.h"
#include "runtime/executable/executable.h"

namespace tandem {

// The entry of a kernel: see docs/developers/internals.md, "The kernel ABI".
using KernelFunction = void (*)(void* const* args, int64_t begin, int64_t end, int64_t row_offset);

// Owns the machine code; functions are valid while it lives.
class LoadedKernels {
 public:
  // Loads all objects and looks up every kernel in the object that contains it, so that nothing can be missing when a
  // step runs. Objects may call only the functions of imported_functions.h.
  // Errors: FailedPrecondition "compiled for avx512f ..." when this machine lacks a feature of Index.target, or this
  // process the sanitizer that the kernels were compiled for;
  // DataLoss (exit code 65) for an object that is damaged or not of kernels, and for a missing symbol, naming kernel
  // and symbol; those of KernelMemory.
  static absl::StatusOr<std::unique_ptr<LoadedKernels>> Load(const Executable& executable);

  LoadedKernels(KernelMemory memory, std::vector<KernelFunction> functions)
      : memory_(std::move(memory)), functions_(std::move(functions)) {}

  // Returns the function of a kernel, by its index in the executable's `kernels`.
  KernelFunction function(int kernel) const { return functions_[kernel]; }

 private:
  KernelMemory memory_;
  std::vector<KernelFunction> functions_;
};

// Checks that this machine can run code for `target`, "x86-64 avx512f avx512vl ...". FailedPrecondition names the
// features that it lacks.
absl::Status CheckTargetFeatures(absl::string_view target);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_OBJECT_LOADER_H_
