// Convolutions by cuDNN's plans, with the changes of layout and type that they need around them.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_CALLS_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_CALLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/kernels/library_kernels.h"
#include "runtime/cuda/libraries/cudnn_api.h"
#include "runtime/cuda/libraries/tunable_call.h"
#include "runtime/format/index.h"

namespace tandem {

// Prepares `call`, which must be a convolution. If `plan_bytes` is not empty and one candidate is wanted, that plan is
// tried first; when the device does not accept it, a plan is built anew. HWIO kernels are transposed into the workspace
// before a plan that reads them, and out of it after one that writes them, unless the call's kernel is packed
// (in cuDNN's layout). A bias has the result's type. For a float32 result of bfloat16 operands the plan makes a
// bfloat16 result, with a rounded bias: cuDNN has no engine for other combinations without a GPU's run-time compiler.
// Where it has no plan with the call's epilogue, a plan of the convolution alone is used, and kernels compute the
// epilogue after it; the log says so. `device` and `kernels` must outlive the result.
absl::StatusOr<std::unique_ptr<TunableCall>> PrepareConvolution(const format::LibraryCall& call,
                                                                absl::string_view plan_bytes, CudnnDevice* device,
                                                                const LibraryKernels* kernels, int candidates);

// Prepares the call with only the plan of that name. Errors: NotFound where cuDNN does not offer it here.
absl::StatusOr<std::unique_ptr<TunableCall>> PrepareNamedConvolution(const format::LibraryCall& call,
                                                                     const std::string& name, CudnnDevice* device,
                                                                     const LibraryKernels* kernels);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_CALLS_H_
