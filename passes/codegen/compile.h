// Compiles the outlined kernels of a module to ELF objects.
#ifndef TANDEM_PASSES_CODEGEN_COMPILE_H_
#define TANDEM_PASSES_CODEGEN_COMPILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/kernel_cache.h"
#include "passes/codegen/sanitize_kernels.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {

using format::Domain;

// CPU time of one thread, in seconds, by stage.
struct KernelSeconds {
  double emit = 0;       // making loops from td ops
  double lower = 0;      // lowering functions of floats
  double translate = 0;  // translating to LLVM IR
  double optimize = 0;   // LLVM's passes
  double assemble = 0;   // making an ELF object
  double total() const { return emit + lower + translate + optimize + assemble; }
};

struct CompiledKernel {
  std::string name;        // name of the func.func
  std::string symbol;      // name of the entry function: "td_" and the kernel's fingerprint
  std::string elf_object;  // relocatable object file
  std::string bitcode;     // LLVM IR after optimisation, for dumps (kernel_ir.h)
  format::Domain domain = format::Domain::kRows;
  KernelSeconds seconds;
  bool cached = false;
};

// Compiles every func.func with the attribute `exec.kernel`, in the order of the module, with up to `threads` threads.
// Kernels that `cache` has for this target are taken from there, others are stored there. `build` names the build of
// the compiler: cached kernels of another one are not used.
absl::StatusOr<std::vector<CompiledKernel>> CompileKernels(mlir::ModuleOp module, const CpuTarget& target, int threads,
                                                           const KernelCache& cache = KernelCache(""),
                                                           absl::string_view build = "",
                                                           KernelSanitizer sanitizer = ProcessSanitizer());

// Compiles one kernel, without a cache.
absl::StatusOr<CompiledKernel> CompileKernel(mlir::func::FuncOp kernel, const CpuTarget& target,
                                             KernelSanitizer sanitizer = ProcessSanitizer());

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_COMPILE_H_
