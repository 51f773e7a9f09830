// A kernel with its arguments.
#ifndef TANDEM_RUNTIME_CUDA_COMMANDS_SINGLE_LAUNCH_H_
#define TANDEM_RUNTIME_CUDA_COMMANDS_SINGLE_LAUNCH_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/cuda/commands/cuda_command.h"

namespace tandem {

// begin, end, row_offset, workspace and guard are the last five values.
struct SingleLaunch {
  // Of `count` elements; rows and once: unused.
  SingleLaunch(const CudaContext& context, uint32_t kernel, const std::vector<uint32_t>& arguments, uint64_t count,
               CUdeviceptr guard);
  SingleLaunch(SingleLaunch&&) = default;  // the values stay where they are

  absl::Status Launch(const CudaContext& context, int64_t rows, int64_t row_offset, CUstream stream,
                      absl::FunctionRef<void(uint64_t workspace)> declare);

  uint32_t kernel;
  int64_t count;
  std::vector<uint64_t> values;
  std::vector<void*> pointers;
};

// FailedPrecondition when the kernel was not compiled for a GPU.
absl::Status CheckKernelIsForGpu(const CudaContext& context, const format::Command& table, uint32_t kernel);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMANDS_SINGLE_LAUNCH_H_
