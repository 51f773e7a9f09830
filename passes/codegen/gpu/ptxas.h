// Runs NVIDIA's assembler, if it is installed, on the code that is made for GPUs.
#ifndef TANDEM_PASSES_CODEGEN_GPU_PTXAS_H_
#define TANDEM_PASSES_CODEGEN_GPU_PTXAS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem {

// Returns the path of ptxas, which is searched in $PATH and below $CUDA_HOME or /usr/local/cuda; "" when there is none.
std::string FindPtxas();

struct PtxasKernel {
  std::string symbol;
  int registers = 0;
  int64_t stack_bytes = 0, spill_bytes = 0;  // bytes of local memory
};

// Assembles `ptx` (with its header) for "sm_90" and so on; `dir` takes temporary files. An error has the output of
// ptxas.
absl::StatusOr<std::vector<PtxasKernel>> RunPtxas(const std::string& ptxas, const std::string& ptx,
                                                  const std::string& arch, const std::string& dir);

// Returns the GPUs for which ptxas of CUDA 13 must accept an image for `image_arch` (75, 80 or 90).
std::vector<std::string> GpusOfImage(int image_arch);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_PTXAS_H_
