// An emitter of CPU kernels: a row of the table in kernel_emitter.cc, which is asked from its first row to its last.
// Every emitter is one file of this folder.
#ifndef TANDEM_PASSES_CODEGEN_EMITTER_H_
#define TANDEM_PASSES_CODEGEN_EMITTER_H_

#include <string>

#include "absl/status/status.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

// A kernel to emit: `void SYMBOL(ptr args, i64 begin, i64 end, i64 rows)`, appended to `module`. What the numbers mean
// for kernels of each kind is in docs/developers/internals.md.
struct EmitRequest {
  mlir::func::FuncOp kernel;
  const std::string& symbol;
  mlir::ModuleOp module;
  int vector_bits;       // the width of registers that code with explicit vectors is written for
  bool native_bfloat16;  // it may use AVX512-BF16
};

struct Emitter {
  const char* name;
  bool (*takes)(mlir::func::FuncOp kernel);
  absl::Status (*emit)(const EmitRequest& request);
  // Vectors and mathematical functions of vectors are in its code: LLVM leaves it as it is.
  bool has_vectors = false;
};

// For `takes`: true if the kernel's first op is one of Ops. Kernels of such ops consist of one op.
template <typename... Ops>
bool IsKernelOf(mlir::func::FuncOp kernel) {
  return mlir::isa<Ops...>(kernel.getBody().front().front());
}

// For `emit`: lets a T, made of the request, emit the kernel.
template <typename T>
absl::Status EmitBy(const EmitRequest& request) {
  T(request).Emit();
  return absl::OkStatus();
}

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_EMITTER_H_
