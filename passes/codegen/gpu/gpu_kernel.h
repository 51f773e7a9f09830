// Emits an outlined kernel (td ops in a func.func) as functions for the threads of a GPU.
#ifndef TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_H_
#define TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tandem {

// How an emitted kernel is launched; GpuLaunch in runtime/format/index.td says what the numbers mean.
struct GpuPlan {
  int64_t block = 32;
  int64_t items_per_block = 1;
  int64_t split = 1;
  int64_t scratch_bytes = 0;
  // The least number of blocks of the main function that a multiprocessor should hold. ptxas then uses all the
  // registers that this leaves; otherwise it may store a few in local memory to reach a rounder number of blocks. 0:
  // ptxas chooses.
  int64_t blocks_per_processor = 0;
  int64_t shared_bytes = 0;  // static shared memory in bytes: the most that one function of the kernel uses
};

struct GpuKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;  // LLVM-dialect functions with scf, arith and math inside
  GpuPlan plan;
  int index_bits = 64;  // the width that values of type index may be lowered to
};

// Emits the entry `symbol` of a kernel, with parameters
//   (ptr arg_0 .. arg_n-1, i64 begin, i64 end, i64 row_offset, ptr scratch, ptr guard)
// Threads and blocks are those of gpu/device.h. `rows`: the most rows of the batch that a launch may have; the place of
// a row does not depend on their number. `arch`: ten times the compute capability of the oldest GPU that is to run the
// code.
//
// The results' bits depend on the rows alone, because shapes and `rows` determine which thread adds what, and in which
// order.
absl::StatusOr<GpuKernel> EmitGpuKernel(mlir::func::FuncOp kernel, const std::string& symbol, int64_t rows, int arch);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_GPU_KERNEL_H_
