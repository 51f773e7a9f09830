// The state of one kernel's emission, shared by the skeletons (loop, row, col).
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/index_builder.h"
#include "passes/codegen/kernel_values.h"
#include "passes/codegen/loop_nest.h"
#include "passes/codegen/reduction.h"
#include "passes/codegen/stream_fetch.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {

class KernelBuilder : private IndexBuilder {
 public:
  KernelBuilder(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol);
  absl::Status Emit();

 private:
  // Begins a function of the kernel's buffers and `numbers` further i64 arguments; insertion goes to its body.
  mlir::LLVM::LLVMFuncOp Begin(const std::string& name, unsigned numbers);
  void End() { b_.create<mlir::LLVM::ReturnOp>(loc_, mlir::ValueRange{}); }
  mlir::Value NumberArgument(mlir::LLVM::LLVMFuncOp f, unsigned i);  // argument i of them, as index
  void BindOperands(ElementEmitter& e, mlir::LLVM::LLVMFuncOp f);
  ElementEmitter::Buffer ResultBuffer(mlir::LLVM::LLVMFuncOp f, unsigned result);
  void EmitEntry(mlir::LLVM::LLVMFuncOp body);

  llvm::SmallVector<int64_t> Radices(mlir::Type type) const { return KernelRadices(kernel_, type); }
  // Emits one nest that stores the results `which`, all of one inner size.
  void EmitStores(ElementEmitter& e, mlir::LLVM::LLVMFuncOp f, Space space, const std::vector<unsigned>& which);
  // Sets the accumulators of sums over the batch to their neutral elements.
  void EmitNeutral(ElementEmitter& e, mlir::LLVM::LLVMFuncOp f);

  mlir::LLVM::LLVMFuncOp EmitLoopKernel();
  // Emits a function for one row (without batch: the only one), and the loop over rows.
  mlir::LLVM::LLVMFuncOp EmitRowKernel(bool batched);
  void EmitRow(ElementEmitter& e, mlir::LLVM::LLVMFuncOp f, const Space& row);
  void Accumulate(ElementEmitter& e, mlir::LLVM::LLVMFuncOp f, const Space& row, unsigned result);
  bool FitsColumns() const;
  mlir::LLVM::LLVMFuncOp EmitColumnKernel();
  // Add the elements at `points`, consecutive places of the reduced dimensions at one column, to a result: SumColumn
  // for a td.reduce, SumTaps for a column sum.
  void SumColumn(ElementEmitter& e, unsigned result, const Reduction& reduction, llvm::ArrayRef<Point> points);
  void SumTaps(ElementEmitter& e, unsigned result, llvm::ArrayRef<Point> points);
  // True if every row is summed up into memory of its own before it is added to the rows before.
  bool SumsPerRow() const;
  void EmitRowSums(ElementEmitter& e, mlir::LLVM::LLVMFuncOp f, const std::function<void()>& body);
  // Returns the tensors that a column kernel over rows of `size` elements reads and writes in order of memory, if
  // fetching them ahead pays.
  std::vector<Stream> Streams(mlir::LLVM::LLVMFuncOp f, int64_t size);
  // Emits a nest over the elements of each result that sums over the batch.
  void ForEachSum(ElementEmitter& e, const std::function<void(unsigned, mlir::ValueRange)>& body);

  mlir::func::FuncOp kernel_;
  mlir::ModuleOp module_;
  mlir::OpBuilder builder_;  // IndexBuilder refers to it
  std::string symbol_;
  exec::KernelKind kind_;
  std::vector<mlir::Value> results_;
  std::vector<int> alias_;                            // by result: the operand whose buffer it shares, or -1
  std::vector<unsigned> batch_reduces_;               // results that are sums (max, ...) over the batch
  std::vector<unsigned> plain_results_;               // all others
  std::vector<ElementEmitter::Buffer> accumulators_;  // of column kernels, by result: the buffer of its sums
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_
