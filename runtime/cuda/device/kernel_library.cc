// Implements KernelLibrary for GPUs: cuBLASLt and cuDNN. Needs no GPU, and needs cuDNN only to make plans.
#include "runtime/cuda/device/kernel_library.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "runtime/cuda/libraries/cudnn_api.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {
namespace {

class CudaLibrary final : public KernelLibrary {
 public:
  // Returns only the library's name, because the library chooses the algorithm itself when its plans are made.
  absl::StatusOr<std::string> ImplementationOf(const format::LibraryCall& call) const override {
    switch (LibraryOf(call)) {
      case GpuLibrary::kCublasLt:
        return "cublaslt";
      case GpuLibrary::kCudnn:
        return "cudnn";
      case GpuLibrary::kKernels:
        return "kernel";
    }
    return absl::InternalError("unknown library");
  }

  absl::StatusOr<uint64_t> PackedWeightsBytes(const format::LibraryCall& call) const override {
    if (LibraryOf(call) == GpuLibrary::kCublasLt) return 0;
    return GpuPackedWeightsBytes(call);
  }
  bool PacksPanels(const format::LibraryCall&) const override { return false; }

  absl::Status UseInstructions(format::InstructionSet) const override { return absl::OkStatus(); }

  // Returns the workspace of every call, and cuDNN's plans of convolutions. If cuDNN is not on this machine, or has no
  // plan for a call, the executable has none and the plan is made on the device; the log says so once.
  absl::StatusOr<std::optional<LibraryPlan>> Plan(const format::LibraryCall& call, int sm) const override {
    if (LibraryOf(call) == GpuLibrary::kKernels) return std::nullopt;
    // cuBLASLt chooses its algorithm when the executable is loaded, but the size of the workspace that it may use is
    // known now.
    if (LibraryOf(call) == GpuLibrary::kCublasLt) return LibraryPlan{"", GpuWorkspaceBytes(call, 0), "cublaslt"};
    absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(call, sm);
    if (absl::IsUnimplemented(plan.status()) && !InfoOf(call).epilogue.empty()) {
      plan = CompileCudnnPlan(WithoutEpilogue(call), sm);
      if (plan.ok()) plan->name = absl::StrCat(kUnfusedPlan, plan->name);
    }
    if (plan.ok()) {
      return LibraryPlan{std::move(plan->bytes), GpuWorkspaceBytes(call, plan->workspace_bytes),
                         absl::StrCat("cudnn ", plan->name)};
    }
    if (!absl::IsFailedPrecondition(plan.status()) && !absl::IsUnimplemented(plan.status())) return plan.status();
    static std::atomic<bool> told{false};
    if (!told.exchange(true)) {
      TD_LOG(INFO) << "Convolutions get their plans on the device: " << plan.status().message();
    }
    return std::nullopt;
  }

  std::string PlannerVersion() const override {
    absl::StatusOr<const CudnnApi*> cudnn = LoadCudnn();
    return cudnn.ok() ? (*cudnn)->version() : "no cuDNN";
  }
};

}  // namespace

const KernelLibrary& CudaKernelLibrary() {
  static const KernelLibrary& library = *new CudaLibrary;
  return library;
}

}  // namespace tandem
