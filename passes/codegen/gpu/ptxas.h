// Runs NVIDIA's assembler, where it is installed, over the code that is made for GPUs.
#ifndef TANDEM_PASSES_CODEGEN_GPU_PTXAS_H_
#define TANDEM_PASSES_CODEGEN_GPU_PTXAS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

// The path of ptxas: in $PATH, or below $CUDA_HOME or /usr/local/cuda. Empty when there is none.
std::string FindPtxas();

struct PtxasKernel {
  std::string symbol;
  int registers = 0;
  int64_t stack_bytes = 0, spill_bytes = 0;  // of local memory
};

// Assembles `ptx` (with its header) for "sm_90" and so on; `dir` takes temporary files. An error holds what ptxas says.
absl::StatusOr<std::vector<PtxasKernel>> RunPtxas(const std::string& ptxas, const std::string& ptx,
                                                  const std::string& arch, const std::string& dir);

// GPUs that an image for `image_arch` (75, 80 or 90) must be accepted for, by ptxas of CUDA 13.
std::vector<std::string> GpusOfImage(int image_arch);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_PTXAS_H_
