#include "runtime/cuda/libraries/cudnn_api.h"

#include "base/status_macros.h"
#include "runtime/cuda/libraries/cudnn_backend.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {
namespace {}  // namespace

absl::StatusOr<const CudnnApi*> LoadCudnn() {
  if (const CudnnApi* api = ScopedCudnn::Current()) return api;
  static const auto* loaded = new absl::StatusOr<std::unique_ptr<const CudnnApi>>(OpenCudnn(""));
  if (!loaded->ok()) return loaded->status();
  return (*loaded)->get();
}

absl::StatusOr<CudnnPlan> CompileCudnnPlan(const format::LibraryCall& call, int sm) {
  TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
  if (LibraryOf(call) != GpuLibrary::kCudnn) {
    return absl::UnimplementedError("cuDNN does not compute this call, so that it needs no plan");
  }
  TD_ASSIGN_OR_RETURN(const CudnnApi* api, LoadCudnn());
  return api->Compile(PlannedConvolution(call), sm);
}

}  // namespace tandem
