// Convolutions by cuDNN's plans, with the changes of layout and type that they need around them.
#ifndef TANDEM_RUNTIME_CUDA_CUDNN_CALLS_H_
#define TANDEM_RUNTIME_CUDA_CUDNN_CALLS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/cudnn_api.h"
#include "runtime/cuda/library_kernels.h"
#include "runtime/cuda/tunable_call.h"
#include "runtime/format/index.h"

namespace tandem {

// `call` is of a convolution. `plan_bytes` is tried first when it is there and one candidate is wanted; a plan that the
// device does not take is built anew. HWIO kernels are transposed into the workspace before a plan that reads them and
// out of it after one that writes them, unless the call's kernel is packed. A bias has the result's type. A float32
// result of bfloat16 operands is the plan's bfloat16 one, with a rounded bias: cuDNN has no engine for other
// combinations without a GPU's run-time compiler. Where it has no plan with the call's epilogue, that of the
// convolution alone is taken, and kernels compute the epilogue behind it; the log says so. `device` and `kernels` must
// outlive the result.
absl::StatusOr<std::unique_ptr<TunableCall>> PrepareConvolution(const format::LibraryCall& call,
                                                                absl::string_view plan_bytes, CudnnDevice* device,
                                                                const LibraryKernels* kernels, int candidates);

// With the plan of that name alone. Errors: NotFound where cuDNN does not offer it here.
absl::StatusOr<std::unique_ptr<TunableCall>> PrepareNamedConvolution(const format::LibraryCall& call,
                                                                     const std::string& name, CudnnDevice* device,
                                                                     const LibraryKernels* kernels);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_CUDNN_CALLS_H_
