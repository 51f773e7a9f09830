// Compiles programs for NVIDIA GPUs: kernels become PTX, and contractions become library calls, with plans where a
// library needs them.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "passes/base/build_id.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "passes/codegen/kernel_cache.h"
#include "passes/machine_code/compile_target.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/session/kernel_library.h"

namespace tandem {
namespace {

// The architectures that targets exist for, each with the machine model of a widespread GPU. Names are checked against
// this list, because LLVM accepts an unknown one with a warning and stops the process later.
struct Architecture {
  int sm;
  const char* machine_model;
};
constexpr Architecture kArchitectures[] = {{75, "t4"},   {80, "a100"},  {86, "a10"},   {87, "orin"},    {89, "l40s"},
                                           {90, "h200"}, {100, "b200"}, {103, "b300"}, {120, "rtx5090"}};

class CudaCompileTarget final : public CompileTarget {
 public:
  // `sm`: ten times the compute capability of the GPUs to compile for.
  explicit CudaCompileTarget(int sm) : sm_(sm) {}

  std::string Name() const override { return absl::StrCat("cuda:sm_", sm_); }
  std::string Requirements() const override { return absl::StrCat("cuda sm_", sm_); }
  absl::string_view device_class() const override { return "gpu"; }
  std::string MachineModelName() const override {
    for (const Architecture& a : kArchitectures) {
      if (a.sm == sm_) return a.machine_model;
    }
    return "h200";
  }
  format::InstructionSet LibraryInstructions() const override { return format::InstructionSet::kAny; }

  exec::TargetAttr Attribute(mlir::MLIRContext* context) const override {
    return exec::TargetAttr::get(context, exec::Backend::kCuda, sm_, /*vector_bits=*/512, false, false);
  }

  std::string CodeKey(const CompileOptions&) const override {
    absl::StatusOr<const KernelLibrary*> library = KernelLibraryOf(device_class());
    return absl::StrCat(Requirements(), library.ok() ? (*library)->PlannerVersion() : "");
  }

  // GPUs multiply bfloat16 matrices from Ampere (compute capability 8.0) on.
  absl::Status UseMixedBfloat16() override {
    if (sm_ >= 80) return absl::OkStatus();
    return absl::UnimplementedError(
        absl::StrCat("precision mixed_bfloat16 needs a GPU of compute capability 8.0 or newer, and \"", Name(),
                     "\" is older; use "
                     "float32"));
  }

  absl::Status CheckRows(const CompileOptions& options) const override {
    const auto replicas = static_cast<int64_t>(options.devices.size());
    if ((options.lanes == 0 || options.lanes == replicas) &&
        (options.microbatch_rows == 0 || options.microbatch_rows == options.batch_per_replica)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("lanes = ", options.lanes, " and microbatch_rows = ", options.microbatch_rows,
                     " cannot be had with ", Name(), ": a GPU computes its ", options.batch_per_replica,
                     " rows at once, in one lane and microbatch; leave both at 0"));
  }

  absl::StatusOr<MachineCode> MakeCode(mlir::ModuleOp module, const CompileOptions& options,
                                       const std::string& kernel_dir) const override {
    GpuCompileOptions gpu;
    gpu.archs = GpuArchsFor(module, sm_);
    gpu.rows = options.batch_per_replica;
    gpu.threads = options.threads;
    gpu.cache = KernelCache(kernel_dir);
    gpu.build = BuildId();
    TD_ASSIGN_OR_RETURN(CompiledGpuKernels compiled, CompileGpuKernels(module, gpu));
    MachineCode code;
    for (CompiledGpuKernel& k : compiled.kernels) {
      code.kernel_times.Add(absl::StrCat(k.name, k.cached ? " (cached)" : ""), k.seconds);
      code.kernels.push_back({k.name, k.symbol, "", std::move(k.launch)});
    }
    for (GpuImageText& image : compiled.images) code.images.push_back({image.arch, std::move(image.ptx)});
    TD_ASSIGN_OR_RETURN(const KernelLibrary* library, KernelLibraryOf(device_class()));
    code.planner = [library, sm = sm_](const format::LibraryCall& call) { return library->Plan(call, sm); };
    return code;
  }

 private:
  int sm_;
};

}  // namespace

std::vector<int> CudaArchitectures() {
  std::vector<int> architectures;
  for (const Architecture& a : kArchitectures) architectures.push_back(a.sm);
  return architectures;
}

std::unique_ptr<CompileTarget> MakeCudaCompileTarget(absl::string_view architecture) {
  for (const Architecture& a : kArchitectures) {
    if (architecture == absl::StrCat(a.sm)) return std::make_unique<CudaCompileTarget>(a.sm);
  }
  return nullptr;
}

}  // namespace tandem
