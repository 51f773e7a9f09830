// Factories of the kinds of commands on GPUs. Only new_cuda_command.cc calls them.
#ifndef TANDEM_RUNTIME_CUDA_COMMANDS_KINDS_H_
#define TANDEM_RUNTIME_CUDA_COMMANDS_KINDS_H_

#include <memory>

#include "runtime/cuda/commands/cuda_command.h"

namespace tandem {

using CudaCommandOr = absl::StatusOr<std::unique_ptr<CudaCommand>>;

CudaCommandOr NewCudaCheckFinite(CudaContext& context, uint32_t number);
CudaCommandOr NewCudaCopy(CudaContext& context, uint32_t number);
CudaCommandOr NewCudaGroupedLaunch(CudaContext& context, uint32_t number);
CudaCommandOr NewCudaKernelLaunch(CudaContext& context, uint32_t number);
CudaCommandOr NewCudaLaneReduce(CudaContext& context, uint32_t number);
CudaCommandOr NewCudaLibraryCall(CudaContext& context, uint32_t number);
CudaCommandOr NewCudaScatterAdd(CudaContext& context, uint32_t number);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_COMMANDS_KINDS_H_
