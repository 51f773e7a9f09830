// Compiles the outlined kernels of a module for NVIDIA GPUs. Needs no GPU and no CUDA.
#ifndef TANDEM_PASSES_CODEGEN_GPU_COMPILE_GPU_H_
#define TANDEM_PASSES_CODEGEN_GPU_COMPILE_GPU_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/compile.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/kernel_cache.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns the architectures for which `kernels` (one kernel, or a module of them) need code to run on GPUs of compute
// capability sm / 10: that of the oldest GPU that can run them, and, if `sm` has instructions that help them, the first
// architecture with these.
std::vector<int> GpuArchsFor(mlir::Operation* kernels, int sm);

struct GpuCompileOptions {
  std::vector<int> archs = {75, 90};  // architectures to make an image for, ascending
  int64_t rows = 1;                   // most rows of the batch that one device computes
  bool walk = false;                  // also make code that computes the same on the CPU `walk_target`, for fake GPUs
  CpuTarget walk_target;
  bool ptx = true;  // false: only code for `walk_target`, no PTX and no images
  // For CompileGpuKernel only: whether to add an entry for exec.grouped_launch. In a module, its launches tell.
  bool grouped = false;
  int threads = 1;
  KernelCache cache = KernelCache("");
  std::string build;  // the build of the compiler: kernels of another build are not taken from the cache
};

struct CompiledGpuKernel {
  std::string name;    // name of the func.func
  std::string symbol;  // name of the entry: "td_" and the kernel's fingerprint
  format::Domain domain = format::Domain::kRows;
  format::GpuLaunch launch;
  std::string walk_object;       // ELF object for runtime/cuda/testing/kernel_walk.h
  std::vector<std::string> ptx;  // PTX by architecture, without a header; empty if none was asked for
  double seconds = 0;            // compile time on one thread
  bool cached = false;
};

struct GpuImageText {
  int arch;
  std::string ptx;  // PTX of all kernels
};

struct CompiledGpuKernels {
  std::vector<CompiledGpuKernel> kernels;  // in the order of the module
  std::vector<GpuImageText> images;        // by ascending architecture
};

// Compiles every func.func with the attribute `exec.kernel`. The same module and options give the same bytes. Errors:
// InvalidArgument for an architecture that no code can be made for; Unimplemented, with the kernel's name, for kinds of
// kernels that GPU programs do not have (split, and tile except for attention).
absl::StatusOr<CompiledGpuKernels> CompileGpuKernels(mlir::ModuleOp module, const GpuCompileOptions& options);

// Compiles one kernel, without the cache.
absl::StatusOr<CompiledGpuKernel> CompileGpuKernel(mlir::func::FuncOp kernel, const GpuCompileOptions& options);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_COMPILE_GPU_H_
