// Compiles a kernel given as text, runs it through a JIT and compares it with the ops' reference semantics.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_TEST_UTIL_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_TEST_UTIL_H_

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/interfaces.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/codegen/compile.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "runtime/cuda/testing/kernel_walk.h"

namespace tandem {

// The bytes of one buffer.
using Bytes = std::vector<char>;

class TestKernel {
 public:
  // `text`: a module whose first function is the kernel. Kernels for the targets "native", "native-bf16" (with the
  // CPU's conversion to bfloat16) and "gpu" can be run; those for GPUs (for up to kGpuRows rows) block by block and
  // thread by thread on the CPU, in memory whose borders are watched.
  static absl::StatusOr<std::unique_ptr<TestKernel>> Create(const std::string& text, const std::string& target);

  // The same for a kernel of a module that outlives the call.
  static absl::StatusOr<std::unique_ptr<TestKernel>> Create(mlir::func::FuncOp function, const std::string& target);

  // Returns random operands for `batch` rows, in the kernel's buffer types. Integers are small and not negative.
  std::vector<td::RefTensor> RandomOperands(int64_t batch, std::mt19937& random);
  // Runs the kernel over [0, count), cut at the split points: {0, 3, count} makes two calls.
  std::vector<Bytes> Run(const std::vector<td::RefTensor>& operands, int64_t batch, std::vector<int64_t> splits);
  // Returns the largest difference from the ops' own evaluation, relative to 1 + |expected|; infinite when NaNs differ.
  absl::StatusOr<double> Error(const std::vector<td::RefTensor>& operands, int64_t batch);

  // Runs over everything. `shapes`: those of the results, which a flat kernel does not know.
  std::vector<td::RefTensor> RunOnce(const std::vector<td::RefTensor>& operands, const std::vector<Shape>& shapes,
                                     int64_t batch);

  using Entry = void (*)(void* const*, int64_t, int64_t, int64_t);
  // The kernel's code; null for a target other than the host.
  Entry entry() const { return entry_; }
  const CompiledGpuKernel& gpu() const { return gpu_; }
  const std::string& elf_object() const { return compiled_.elf_object; }
  const std::string& llvm_ir() const { return llvm_ir_; }
  mlir::func::FuncOp function() const { return function_; }
  int64_t row_offset = 0;
  static constexpr int64_t kGpuRows = 40;
  // For runs of GPU kernels: the kernel does nothing when it points to a number other than 0
  const int32_t* guard = nullptr;
  // Errors in runs of GPU kernels: threads that diverge at a barrier, writes beyond buffers.
  absl::Status gpu_status() const { return gpu_status_; }

 private:
  absl::Status Load(mlir::func::FuncOp function, const std::string& target);
  absl::Status LoadForGpu();
  std::vector<Bytes> RunOnGpu(const std::vector<Bytes>& operands, const std::vector<Bytes>& results,
                              const std::vector<int64_t>& splits);
  // `backwards`: run blocks and threads in reverse order.
  std::vector<Bytes> WalkOnGpu(const std::vector<Bytes>& operands, std::vector<Bytes> results,
                               const std::vector<int64_t>& splits, bool backwards);

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp function_;
  CompiledKernel compiled_;
  std::string llvm_ir_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Entry entry_ = nullptr;
  CompiledGpuKernel gpu_;
  std::unique_ptr<WalkedKernels> walked_;
  absl::Status gpu_status_;
};

std::vector<td::RefTensor> RandomTensors(llvm::ArrayRef<mlir::Type> types, int64_t batch, std::mt19937& random);
Shape RunShape(mlir::Type type, int64_t batch);  // the type's shape, with `batch` as the batch
// Returns the largest difference, relative to 1 + |expected|; infinite when NaNs or sizes differ.
double LargestError(const std::vector<td::RefTensor>& actual, const std::vector<td::RefTensor>& expected);

// Evaluates the body of `function` with the ops' ReferenceOp interface.
absl::StatusOr<std::vector<td::RefTensor>> EvaluateReference(mlir::func::FuncOp function,
                                                             const std::vector<td::RefTensor>& operands,
                                                             const td::RefContext& context);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_TEST_UTIL_H_
