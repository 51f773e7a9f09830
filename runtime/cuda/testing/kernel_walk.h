// Runs generated GPU kernels on the CPU, block by block and thread by thread: the same emitted code, compiled for the
// host (passes/codegen/gpu/walk.h). Threads that wait for each other are fibers. An error is returned for what would
// fail on a GPU: threads that part ways before a barrier or a shuffle, and accesses beyond a block's shared memory.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_KERNEL_WALK_H_
#define TANDEM_RUNTIME_CUDA_TESTING_KERNEL_WALK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

class WalkedKernels {
 public:
  // `elf_objects`: CompiledGpuKernel::walk_object of each kernel.
  // `symbols`: entries; all are looked up now.
  static absl::StatusOr<std::unique_ptr<WalkedKernels>> Load(const std::vector<absl::string_view>& elf_objects,
                                                             const std::vector<std::string>& symbols);
  virtual ~WalkedKernels() = default;

  // Does what cuLaunchKernel does with one-dimensional grids; device pointers are host addresses. Returns when all
  // blocks are done. `backwards`: runs the last block first, and in it the last warp and thread: a GPU may take them in
  // any order. NotFound for a symbol that was not loaded; Internal for what a GPU would hang on or corrupt.
  // Thread-safe.
  virtual absl::Status Launch(const std::string& symbol, uint32_t grid, uint32_t block, uint32_t shared_bytes,
                              void** params, bool backwards = false) = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_KERNEL_WALK_H_
