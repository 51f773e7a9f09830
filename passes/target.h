// What a program is compiled for: a CPU, or NVIDIA GPUs of a compute capability.
#ifndef TANDEM_PASSES_TARGET_H_
#define TANDEM_PASSES_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/cpu_target.h"
#include "passes/exec/dialect.h"
#include "runtime/executable_generated.h"

namespace tandem {

struct CompileTarget {
  bool gpu = false;
  // Of a GPU program: ten times the compute capability that libraries' plans are made for.
  int sm = 0;
  // The CPU of the machine that compiles, whatever it is.
  bool native = false;
  // Computes with bfloat16 numbers.
  bool mixed_bfloat16 = false;
  // Of a CPU program: what its kernels may use.
  CpuTarget cpu;

  // GPUs from Ampere on (compute capability 8.0) multiply bfloat16 matrices.
  bool has_bfloat16() const { return gpu ? sm >= 80 : cpu.vector_bits >= 512; }
  // The architectures for which a GPU program has PTX, ascending. Code for the first one runs on every newer GPU too.
  std::vector<int> PtxArchitectures() const;
  // "cpu:znver4", also where cpu:native was asked for, or "cuda:sm_90".
  std::string Name() const;
  // Executable.target: "x86-64 avx avx2 ..." or "cuda sm_90".
  std::string Requirements() const;
  // Executable.instructions, of a CPU program.
  fb::InstructionSet LibraryInstructions() const;
};

// "cpu:native", "cpu:x86-64-v3" and so on (cpu_target.h), or "cuda:sm_75" and so on. Needs no GPU. InvalidArgument,
// listing all, for anything else.
absl::StatusOr<CompileTarget> ParseTarget(absl::string_view name);

// "cuda:sm_90" for a GPU of compute capability 9.0: the newest known target that it runs. FailedPrecondition (exit code
// 2) for one older than any.
absl::StatusOr<std::string> TargetForComputeCapability(int sm);

// What passes have to know of the target.
exec::TargetAttr TargetAttribute(mlir::MLIRContext* context, const CompileTarget& target);
// Gives the configuration of `module` another target.
void SetTarget(mlir::ModuleOp module, const CompileTarget& target);
bool IsGpuTarget(mlir::ModuleOp module);
// A module that names no target is for a CPU with AVX-512, as #exec.target has it.
bool HasAvx512(mlir::ModuleOp module);
bool HasBFloat16Products(mlir::ModuleOp module);
bool HasBFloat16Tiles(mlir::ModuleOp module);

// The machine model that passes use unless the user gives one.
std::string MachineModelNameFor(const CompileTarget& target);

// Where buffers may begin in an arena, in bytes: a cache line of the CPU; what cuBLASLt and cuDNN want on a GPU.
int64_t BufferAlignment(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_TARGET_H_
