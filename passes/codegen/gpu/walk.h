// Compiles kernels for GPUs to code for a CPU, for tests: the same lowered code, to be called thread by thread.
#ifndef TANDEM_PASSES_CODEGEN_GPU_WALK_H_
#define TANDEM_PASSES_CODEGEN_GPU_WALK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "passes/codegen/cpu_target.h"

namespace tandem {

// Returns an ELF object with, for each of `entries`, `void ENTRY(void** params)` that runs one thread with parameters
// as cuLaunchKernel takes them, and the 64-bit numbers ENTRY_shared_bytes (size of the memory of td_shared()) and
// ENTRY_syncs (1 if threads wait for each other). The functions of gpu/device.h are left to
// runtime/cuda/testing/kernel_walk.h.
absl::StatusOr<std::string> CompileToWalk(llvm::Module& module, const std::vector<std::string>& entries,
                                          int64_t shared_bytes, const CpuTarget& target);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_WALK_H_
