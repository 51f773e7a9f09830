// What emitters of kernels for all targets share: what the kernel computes, and the function that is being emitted.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_CONTEXT_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_CONTEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/codegen/element_emitter.h"
#include "passes/codegen/index_builder.h"
#include "passes/codegen/kernel_values.h"
#include "passes/codegen/loop_nest.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {

// True if result `result` may overwrite the buffer of operand `operand`: every element of the operand is only read to
// compute the same element of the results.
bool MayAlias(mlir::func::FuncOp kernel, unsigned operand, unsigned result);

// A loop over columns in which all of a kernel's sums over the batch can be computed. Each sum has at least two columns
// (ColumnsOf).
struct ColumnLoop {
  mlir::Type operand;  // type of the first sum's operand; the other sums' operands have as many elements per row
  int64_t columns;     // the fewest columns of a sum
  bool equal_columns;  // all sums have the same columns, and sum over all dimensions in front of them
};

class KernelContext : protected IndexBuilder {
 public:
  // `symbol`: the name of the function by which the runtime calls the kernel.
  KernelContext(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol);

 protected:
  // Returns an error for ops that generated kernels cannot have, for a result that may not share its operand's buffer,
  // and for a result without a batch axis that this kind of kernel does not compute. `takes_epilogues`: column kernels
  // may compute such results from sums.
  absl::Status Check(bool takes_epilogues);
  bool is_elementwise() const { return kind_ == exec::KernelKind::kLoop || kind_ == exec::KernelKind::kFlat; }
  bool is_of_loops() const {
    return is_elementwise() || kind_ == exec::KernelKind::kRow || kind_ == exec::KernelKind::kCol || !has_rows();
  }
  bool has_rows() const { return kind_ != exec::KernelKind::kOnce; }

  unsigned num_buffers() { return kernel_.getNumArguments() + static_cast<unsigned>(results_.size()); }
  // Begins a function whose arguments are the kernel's buffers (operands, then results) and then `numbers`. Ops are
  // inserted into its body from now on.
  void BeginFunction(const std::string& name, llvm::ArrayRef<mlir::Type> numbers, mlir::LLVM::Linkage linkage);
  void EndFunction() { b_.create<mlir::LLVM::ReturnOp>(loc_, mlir::ValueRange{}); }
  // Return arguments of the function that was begun: the i-th one behind the buffers, the same as an index, and the
  // buffer of a result.
  mlir::Value Argument(unsigned i) { return f_.getArgument(num_buffers() + i); }
  mlir::Value Number(unsigned i) { return Index(Argument(i)); }
  ElementEmitter::Buffer ResultBuffer(unsigned result) { return {f_.getArgument(kernel_.getNumArguments() + result)}; }
  void BindOperands(ElementEmitter& e);
  // Returns the indices of an element of a column sum's result, which has type `type`: tap number `tap` of column
  // `column`.
  llvm::SmallVector<mlir::Value> TapIndices(mlir::Type type, int64_t tap, mlir::Value column);
  // Stores the elements at `points` of the results whose numbers are in `which`.
  void StorePoints(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points);

  mlir::func::FuncOp kernel_;
  mlir::ModuleOp module_;
  const std::string symbol_;
  const exec::KernelKind kind_;
  std::vector<mlir::Value> results_;
  std::vector<int> alias_;                  // for each result the operand whose buffer it shares, or -1
  std::vector<unsigned> batch_reduces_;     // results that are sums (max, ...) over the batch
  std::vector<unsigned> epilogue_results_;  // results without batch that a kernel of columns computes from those sums
  std::vector<unsigned> plain_results_;     // results that are neither sums over the batch nor computed from them
  std::optional<ColumnLoop> columns_;       // the loop that can compute all sums and results, if there is one
  mlir::LLVM::LLVMFuncOp f_;                // the function that is being emitted
  absl::Status status_;

 private:
  std::optional<ColumnLoop> FindColumns();

  mlir::OpBuilder builder_;  // base class IndexBuilder holds a reference to it
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_CONTEXT_H_
