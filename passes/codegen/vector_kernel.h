// What emitters of kernels with explicit vectors share: a kernel is one function, the one that the runtime calls.
#ifndef TANDEM_PASSES_CODEGEN_VECTOR_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_VECTOR_KERNEL_H_

#include <vector>

#include "passes/codegen/emitter.h"
#include "passes/codegen/kernel_entry.h"
#include "passes/codegen/vector_builder.h"

namespace tandem {

class VectorKernel {
 public:
  // Begins the kernel's function. `more`: the number of buffers behind its operands and results.
  explicit VectorKernel(const EmitRequest& request, unsigned more = 0)
      : kernel_(request.kernel),
        b_(kernel_.getContext()),
        v_(b_, kernel_.getLoc(), request.vector_bits / 32, request.native_bfloat16) {
    const unsigned buffers = kernel_.getNumArguments() + kernel_.getNumResults() + more;
    const KernelEntry entry = BeginKernelEntry(b_, v_.loc(), request.symbol, request.module, buffers);
    buffers_ = entry.buffers;
    begin_ = v_.Index(entry.begin), end_ = v_.Index(entry.end), rows_ = v_.Index(entry.rows);
  }

 protected:
  void End() { b_.create<mlir::LLVM::ReturnOp>(v_.loc(), mlir::ValueRange{}); }

  mlir::Value Result(unsigned i) { return buffers_[kernel_.getNumArguments() + i]; }

  mlir::func::FuncOp kernel_;
  mlir::OpBuilder b_;
  VectorBuilder v_;
  std::vector<mlir::Value> buffers_;  // addresses of the operands, then of the results
  mlir::Value begin_, end_, rows_;    // the function's numbers begin, end and rows as index
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_VECTOR_KERNEL_H_
