// SingleLaunch: a GPU kernel with its arguments, ready to be launched.
#ifndef TANDEM_RUNTIME_CUDA_COMMANDS_SINGLE_LAUNCH_H_
#define TANDEM_RUNTIME_CUDA_COMMANDS_SINGLE_LAUNCH_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/cuda/commands/cuda_command.h"

namespace tandem {

// `values` holds the kernel's arguments; the last five are begin, end, row_offset, workspace and guard.
struct SingleLaunch {
  // `count`: number of elements; unused for domains Rows and Once.
  SingleLaunch(const CudaContext& context, uint32_t kernel, const std::vector<uint32_t>& arguments, uint64_t count,
               CUdeviceptr guard);
  SingleLaunch(SingleLaunch&&) = default;  // moving keeps the addresses of the values

  absl::Status Launch(const CudaContext& context, int64_t rows, int64_t row_offset, CUstream stream,
                      absl::FunctionRef<void(uint64_t workspace)> declare);

  uint32_t kernel;
  int64_t count;
  std::vector<uint64_t> values;
  std::vector<void*> pointers;
};

// Returns FailedPrecondition when the kernel was not compiled for a GPU.
absl::Status CheckKernelIsForGpu(const CudaContext& context, const format::Command& table, uint32_t kernel);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMANDS_SINGLE_LAUNCH_H_
