// The code of a program for GPUs: kernels as PTX, and libraries' plans.
#ifndef TANDEM_PASSES_GPU_CODE_H_
#define TANDEM_PASSES_GPU_CODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/compile.h"
#include "passes/compile_times.h"
#include "passes/serialize.h"
#include "passes/target.h"

namespace tandem {

struct GpuCode {
  std::vector<KernelCode> kernels;
  std::vector<GpuImage> images;
};

// Compiles the kernels of a module at the end of phase `memory`. `kernel_dir`: where compiled ones are kept, or "".
absl::StatusOr<GpuCode> MakeGpuCode(mlir::ModuleOp module, const CompileTarget& target, const CompileOptions& options,
                                    const std::string& kernel_dir, CompileTimes* kernel_times);

// The workspace of every call, and cuDNN's plans of convolutions for GPUs of compute capability sm / 10. Where cuDNN is
// not on this machine, or has no plan for a call, the executable goes without and the plan is made on the device; the
// log says so once.
LibraryPlanner CudnnPlanner(int sm);

// What plans depend on besides the calls: for the cache's key.
std::string PlannerVersion();

}  // namespace tandem

#endif  // TANDEM_PASSES_GPU_CODE_H_
