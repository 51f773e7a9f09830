// The targets that a program can be compiled for, by the names that users give: a CPU, or NVIDIA GPUs of a compute
// capability.
#ifndef TANDEM_PASSES_MACHINE_CODE_COMPILE_TARGET_H_
#define TANDEM_PASSES_MACHINE_CODE_COMPILE_TARGET_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/base/compile_options.h"
#include "passes/base/compile_times.h"
#include "passes/exec/dialect.h"
#include "passes/serialize/serialize.h"
#include "runtime/format/index.h"

namespace tandem {

// The result of phase `codegen` for a module.
struct MachineCode {
  std::vector<KernelCode> kernels;
  std::vector<GpuImage> images;          // for GPUs: the PTX of all kernels by architecture
  LibraryPlanner planner;                // for GPUs: makes the plans of library calls
  std::optional<std::string> kernel_ir;  // IR of phase `codegen` as text, where there is one
  CompileTimes kernel_times, stage_times;
};

class CompileTarget {
 public:
  virtual ~CompileTarget() = default;

  // The full name: "cuda:sm_90", or "cpu:znver4", also for cpu:native on such a CPU.
  virtual std::string Name() const = 0;
  // The executable's `target`, the features that its code needs: "x86-64 avx avx2 ..." or "cuda sm_90".
  virtual std::string Requirements() const = 0;
  // The class of its devices: "cpu" or "gpu".
  virtual absl::string_view device_class() const = 0;
  // The name of the machine model that passes use unless the user gives one.
  virtual std::string MachineModelName() const = 0;
  // The executable's `instructions`: those that kernel libraries may use.
  virtual format::InstructionSet LibraryInstructions() const = 0;
  // The features, in Requirements' words, that code for the target may use and that the compiling machine lacks.
  virtual std::vector<std::string> MissingHere() const { return {}; }
  // The attribute that tells passes about the target.
  virtual exec::TargetAttr Attribute(mlir::MLIRContext* context) const = 0;
  // Everything that machine code depends on besides the module, as text for the cache's key.
  virtual std::string CodeKey(const CompileOptions& options) const = 0;

  // Makes code compute with bfloat16 numbers from now on. Unimplemented, with the remedy, if the target cannot.
  virtual absl::Status UseMixedBfloat16() = 0;
  // Checks the options' lanes and microbatches: InvalidArgument for those that the target cannot have.
  virtual absl::Status CheckRows(const CompileOptions& options) const = 0;

  // Compiles the kernels of a module at the end of phase `commands`. `kernel_dir`: the directory where compiled kernels
  // are kept, or "" for none.
  virtual absl::StatusOr<MachineCode> MakeCode(mlir::ModuleOp module, const CompileOptions& options,
                                               const std::string& kernel_dir) const = 0;
};

// Returns the target of a name: "cpu:native", "cpu:x86-64-v3" and so on (codegen/cpu_target.h), or "cuda:sm_75" and so
// on. Needs no GPU. InvalidArgument, listing all names, for anything else.
absl::StatusOr<std::unique_ptr<CompileTarget>> ParseTarget(absl::string_view name);

// Returns the newest known target that a GPU of compute capability sm / 10 runs, for example "cuda:sm_90" for 90.
// FailedPrecondition (exit code 2) for a GPU that is older than all targets.
absl::StatusOr<std::string> TargetForComputeCapability(int sm);

// For ParseTarget: make a target from its name without the prefix ("native", "90"). Null for an unknown name.
std::unique_ptr<CompileTarget> MakeCpuCompileTarget(absl::string_view name);
std::unique_ptr<CompileTarget> MakeCudaCompileTarget(absl::string_view architecture);
// Returns ten times the compute capabilities that targets exist for, ascending.
std::vector<int> CudaArchitectures();

}  // namespace tandem

#endif  // TANDEM_PASSES_MACHINE_CODE_COMPILE_TARGET_H_
