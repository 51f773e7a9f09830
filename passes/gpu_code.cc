#include "passes/gpu_code.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "passes/build_id.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "passes/codegen/kernel_cache.h"
#include "runtime/cuda/cudnn_api.h"
#include "runtime/cuda/gpu_library.h"

namespace tandem {

absl::StatusOr<GpuCode> MakeGpuCode(mlir::ModuleOp module, const CompileTarget& target, const CompileOptions& options,
                                    const std::string& kernel_dir, CompileTimes* kernel_times) {
  GpuCompileOptions gpu;
  gpu.archs = target.PtxArchitectures();
  gpu.rows = options.batch_per_replica;
  gpu.threads = options.threads;
  gpu.cache = KernelCache(kernel_dir);
  gpu.build = BuildId();
  TD_ASSIGN_OR_RETURN(CompiledGpuKernels compiled, CompileGpuKernels(module, gpu));
  GpuCode code;
  for (CompiledGpuKernel& k : compiled.kernels) {
    kernel_times->Add(absl::StrCat(k.name, k.cached ? " (cached)" : ""), k.seconds);
    code.kernels.push_back({k.name, k.symbol, "", std::move(k.launch)});
  }
  for (GpuImageText& image : compiled.images) code.images.push_back({image.arch, std::move(image.ptx)});
  return code;
}

LibraryPlanner CudnnPlanner(int sm) {
  auto told = std::make_shared<bool>(false);
  return [sm, told](const fb::LibraryCallT& call) -> absl::StatusOr<std::optional<LibraryPlan>> {
    if (LibraryOf(call) == GpuLibrary::kKernels) return std::nullopt;
    // cuBLASLt chooses when the executable is loaded; what it may use is known.
    if (LibraryOf(call) == GpuLibrary::kCublasLt) return LibraryPlan{"", GpuWorkspaceBytes(call, 0), "cublaslt"};
    absl::StatusOr<CudnnPlan> plan = CompileCudnnPlan(call, sm);
    if (plan.ok()) {
      return LibraryPlan{std::move(plan->bytes), GpuWorkspaceBytes(call, plan->workspace_bytes),
                         absl::StrCat("cudnn ", plan->name)};
    }
    if (!absl::IsFailedPrecondition(plan.status()) && !absl::IsUnimplemented(plan.status())) return plan.status();
    if (!std::exchange(*told, true)) {
      TD_LOG(INFO) << "Convolutions get their plans on the device: " << plan.status().message();
    }
    return std::nullopt;
  };
}

std::string PlannerVersion() {
  absl::StatusOr<const CudnnApi*> cudnn = LoadCudnn();
  return cudnn.ok() ? (*cudnn)->version() : "no cuDNN";
}

}  // namespace tandem
