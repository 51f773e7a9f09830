// What stands behind LoadCudnn: one of two libraries, by what headers the build found.
#ifndef TANDEM_RUNTIME_CUDA_CUDNN_BACKEND_H_
#define TANDEM_RUNTIME_CUDA_CUDNN_BACKEND_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cuda/cudnn_api.h"

namespace tandem {

// Opens cuDNN: `path`, or where it is empty TANDEM_LIBCUDNN or libcudnn.so.9. Once per process: cudnn-frontend knows
// one library.
absl::StatusOr<std::unique_ptr<const CudnnApi>> OpenCudnn(const std::string& path);

// Whether this build has more than the sentence that says that it has no CUDA headers.
bool HasCudnnHeaders();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_CUDNN_BACKEND_H_
