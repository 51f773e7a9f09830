// Emitters of CPU kernels. Each is one file of this folder and a row of the table in kernel_emitter.cc, of which the
// first one whose `takes` is true emits a kernel.
#ifndef TANDEM_PASSES_CODEGEN_EMITTER_H_
#define TANDEM_PASSES_CODEGEN_EMITTER_H_

#include <string>

#include "absl/status/status.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/exec/contraction.h"

namespace tandem {

// A kernel to emit: `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)`, appended to `module`. What the numbers mean
// for kernels of each kind is in docs/developers/internals.md.
struct EmitRequest {
  mlir::func::FuncOp kernel;
  const std::string& symbol;
  mlir::ModuleOp module;
  int vector_bits;       // bits of a register, for emitters that emit vector code themselves
  bool native_bfloat16;  // code may use AVX512-BF16
};

struct Emitter {
  const char* name;
  bool (*takes)(mlir::func::FuncOp kernel);
  absl::Status (*emit)(const EmitRequest& request);
  // True if the emitted code uses vectors, and mathematical functions of vectors, itself: LLVM does not vectorise it.
  bool has_vectors = false;
};

// A function for `takes`: true if the kernel's first op is one of Ops. Kernels of such ops consist of that op alone.
template <typename... Ops>
bool IsKernelOf(mlir::func::FuncOp kernel) {
  return mlir::isa<Ops...>(kernel.getBody().front().front());
}

// A function for `takes`: true if the kernel's first op is an exec.contraction of this kind by this algorithm.
template <exec::ContractionKind kind, exec::Algorithm algorithm>
bool IsContractionKernel(mlir::func::FuncOp kernel) {
  return exec::IsContraction(&kernel.getBody().front().front(), kind, algorithm);
}

// A function for `emit`: constructs a T from the request and calls its Emit().
template <typename T>
absl::Status EmitBy(const EmitRequest& request) {
  T(request).Emit();
  return absl::OkStatus();
}

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_EMITTER_H_
