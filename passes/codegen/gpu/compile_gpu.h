// Compiles the outlined kernels of a module for NVIDIA GPUs: needs no GPU and no CUDA.
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

// The architectures that kernels (one, or all of a module) need code for on GPUs of compute capability sm / 10: that of
// the oldest GPU that runs them, and where `sm` has more instructions, that of the first that has.
std::vector<int> GpuArchsFor(mlir::Operation* kernels, int sm);

struct GpuCompileOptions {
  std::vector<int> archs = {75, 90};  // an image each, ascending
  int64_t rows = 1;                   // of the batch that one device takes at most
  bool walk = false;                  // also make code that computes the same on `walk_target`; for fakes
  CpuTarget walk_target;
  bool ptx = true;       // else only what walks: no PTX and no images
  bool grouped = false;  // CompileGpuKernel: with an entry for exec.grouped_launch; else the module shows which need it
  int threads = 1;
  KernelCache cache = KernelCache("");
  std::string build;  // names the compiler: kernels of another one are not taken from the cache
};

struct CompiledGpuKernel {
  std::string name;    // of the func.func
  std::string symbol;  // of the entry: "td_" and the kernel's fingerprint
  format::Domain domain = format::Domain::kRows;
  format::GpuLaunch launch;
  std::string walk_object;       // ELF; for runtime/cuda/testing/kernel_walk.h
  std::vector<std::string> ptx;  // without a header, per architecture; none where none was asked for
  double seconds = 0;            // of compile time on one thread
  bool cached = false;
};

struct GpuImageText {
  int arch;
  std::string ptx;  // all kernels
};

struct CompiledGpuKernels {
  std::vector<CompiledGpuKernel> kernels;  // in the order of the module
  std::vector<GpuImageText> images;        // ascending
};

// Compiles every func.func with the attribute `td.kernel`. The same module and options give the same bytes.
// Errors: InvalidArgument for an architecture that no code can be made for; Unimplemented for kernels of kinds that GPU
// programs do not have (split, and tile but for attention), with the kernel's name.
absl::StatusOr<CompiledGpuKernels> CompileGpuKernels(mlir::ModuleOp module, const GpuCompileOptions& options);

// One kernel, without the cache.
absl::StatusOr<CompiledGpuKernel> CompileGpuKernel(mlir::func::FuncOp kernel, const GpuCompileOptions& options);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_COMPILE_GPU_H_
