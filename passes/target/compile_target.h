// What a program is compiled for, by the name that users give: a CPU, or NVIDIA GPUs of a compute capability.
#ifndef TANDEM_PASSES_TARGET_COMPILE_TARGET_H_
#define TANDEM_PASSES_TARGET_COMPILE_TARGET_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/compile_options.h"
#include "passes/compile_times.h"
#include "passes/exec/dialect.h"
#include "passes/serialize.h"
#include "runtime/format/index.h"

namespace tandem {

// What phase `codegen` makes of a module.
struct MachineCode {
  std::vector<KernelCode> kernels;
  std::vector<GpuImage> images;          // of a GPU program
  LibraryPlanner planner;                // of a GPU program
  std::optional<std::string> kernel_ir;  // text of phase `codegen`, where there is one
  CompileTimes kernel_times, stage_times;
};

class CompileTarget {
 public:
  virtual ~CompileTarget() = default;

  // "cpu:znver4", also where cpu:native was asked for, or "cuda:sm_90".
  virtual std::string Name() const = 0;
  // Executable.target: "x86-64 avx avx2 ..." or "cuda sm_90".
  virtual std::string Requirements() const = 0;
  // "cpu" or "gpu".
  virtual absl::string_view device_class() const = 0;
  // The machine model that passes use unless the user gives one.
  virtual std::string MachineModelName() const = 0;
  // Executable.instructions.
  virtual format::InstructionSet LibraryInstructions() const = 0;
  // What code for it may use and the machine that compiles does not have, in Requirements' words.
  virtual std::vector<std::string> MissingHere() const { return {}; }
  // What passes have to know of it.
  virtual exec::TargetAttr Attribute(mlir::MLIRContext* context) const = 0;
  // What machine code depends on besides the module: for the cache's key.
  virtual std::string CodeKey(const CompileOptions& options) const = 0;

  // Computes with bfloat16 numbers from now on. Unimplemented, with the remedy, where the target has none.
  virtual absl::Status UseMixedBfloat16() = 0;
  // InvalidArgument for lanes or microbatches that the target cannot have.
  virtual absl::Status CheckRows(const CompileOptions& options) const = 0;

  // Compiles the kernels of a module at the end of phase `commands`. `kernel_dir`: where compiled ones are kept, or "".
  virtual absl::StatusOr<MachineCode> MakeCode(mlir::ModuleOp module, const CompileOptions& options,
                                               const std::string& kernel_dir) const = 0;
};

// "cpu:native", "cpu:x86-64-v3" and so on (codegen/cpu_target.h), or "cuda:sm_75" and so on. Needs no GPU.
// InvalidArgument, listing all, for anything else.
absl::StatusOr<std::unique_ptr<CompileTarget>> ParseTarget(absl::string_view name);

// "cuda:sm_90" for a GPU of compute capability 9.0: the newest known target that it runs. FailedPrecondition (exit code
// 2) for one older than any.
absl::StatusOr<std::string> TargetForComputeCapability(int sm);

// For ParseTarget. Their names without the prefix ("native", "90"); null for an unknown one.
std::unique_ptr<CompileTarget> MakeCpuCompileTarget(absl::string_view name);
std::unique_ptr<CompileTarget> MakeCudaCompileTarget(absl::string_view architecture);
// The compute capabilities that targets exist for, ten times, ascending.
std::vector<int> CudaArchitectures();

}  // namespace tandem

#endif  // TANDEM_PASSES_TARGET_COMPILE_TARGET_H_
