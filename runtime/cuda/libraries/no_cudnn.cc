// OpenCudnn for builds that found no CUDA headers, and so cannot compile cudnn-frontend: it returns an error.
#include "runtime/cuda/libraries/cudnn_backend.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<const CudnnApi>> OpenCudnn(const std::string&) {
  return absl::FailedPreconditionError(
      "this build has no CUDA headers and therefore no cuDNN: run ./setup --cuda and rebuild");
}

bool HasCudnnHeaders() { return false; }

}  // namespace tandem
