// Compiles lowered kernels to PTX text.
#ifndef TANDEM_PASSES_CODEGEN_GPU_PTX_H_
#define TANDEM_PASSES_CODEGEN_GPU_PTX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Module.h"

namespace tandem {

// Checks that code can be made for `arch`, a compute capability times 10: 75 (runs on every GPU since Turing), 80
// (since Ampere) or 90 (since Hopper). InvalidArgument for any other, with which LLVM would end the process.
absl::Status CheckPtxArch(int arch);

// An entry of the PTX, a function that the host launches.
struct PtxEntry {
  std::string symbol;
  int64_t block;                 // threads of a block
  int64_t blocks_per_processor;  // the least blocks per multiprocessor (GpuPlan::blocks_per_processor)
};

// Returns PTX without a header for each of `archs`, written only once if their code cannot differ. `module` may call
// the functions of gpu/device.h; `shared_bytes` is the size of the memory that td_shared() gives. InvalidArgument for
// an architecture without an instruction that it needs, Internal when the code would need a library, local memory or a
// call.
absl::StatusOr<std::vector<std::string>> CompileToPtx(llvm::Module& module, const std::vector<PtxEntry>& entries,
                                                      int64_t shared_bytes, const std::vector<int>& archs);

// Returns the text that the driver loads: a header and the kernels.
std::string JoinPtx(int arch, const std::vector<absl::string_view>& kernels);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_PTX_H_
