// The implementation of LoadCudnn: one of two libraries, depending on the headers that the build found.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_BACKEND_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_BACKEND_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cuda/libraries/cudnn_api.h"

namespace tandem {

// Opens cuDNN from `path`, or where that is empty from TANDEM_LIBCUDNN or libcudnn.so.9. May be called once per
// process: cudnn-frontend supports one library.
absl::StatusOr<std::unique_ptr<const CudnnApi>> OpenCudnn(const std::string& path);

// True if this build was made with cuDNN's headers; else OpenCudnn only returns an error that says so.
bool HasCudnnHeaders();

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_BACKEND_H_
