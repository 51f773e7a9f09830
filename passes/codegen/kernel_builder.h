// Emits kernels of loops for CPUs. There are three loop structures (skeletons): loop, row and col.
#ifndef TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "passes/codegen/kernel_context.h"
#include "passes/codegen/loop_nest.h"
#include "passes/codegen/reduction.h"
#include "passes/codegen/stream_fetch.h"

namespace tandem {

class KernelBuilder : private KernelContext {
 public:
  using KernelContext::KernelContext;
  absl::Status Emit();

 private:
  // Begins a function whose arguments are the kernel's buffers and then `numbers` numbers of type i64.
  void Begin(const std::string& name, unsigned numbers);
  // Emits the function that the runtime calls. It calls the function that was emitted last.
  void EmitEntry();

  llvm::SmallVector<int64_t> Radices(mlir::Type type) const { return KernelRadices(kernel_, type); }
  // Emits one loop nest that stores the results whose numbers are in `which`; they all have the same size per row.
  void EmitStores(ElementEmitter& e, Space space, const std::vector<unsigned>& which);
  // Emits a loop nest over the elements of each result that sums over the batch.
  void ForEachSum(ElementEmitter& e, const std::function<void(unsigned, mlir::ValueRange)>& body);
  // Sets the accumulators of these results to their neutral elements.
  void EmitNeutral(ElementEmitter& e);

  void EmitLoopKernel();
  // Emits a function that computes one row (or the whole kernel, if it has no batch), and the loop over rows that calls
  // it.
  void EmitRowKernel();
  void EmitRow(ElementEmitter& e, const Space& row);
  void Accumulate(ElementEmitter& e, const Space& row, unsigned result);
  void EmitColumnKernel();
  // Add the elements at `points`, consecutive places of the reduced dimensions in one column, to the sums of result
  // number `result`: SumColumn for a td.reduce, SumTaps for a column sum, which has several sums per column.
  void SumColumn(ElementEmitter& e, unsigned result, const Reduction& reduction, llvm::ArrayRef<Point> points);
  void SumTaps(ElementEmitter& e, unsigned result, llvm::ArrayRef<Point> points);
  // True if every row is summed up into memory of its own before that sum is added to the sum of the rows before.
  bool SumsPerRow() const;
  void EmitRowSums(ElementEmitter& e, const std::function<void()>& body);
  // Returns the tensors that a column kernel over rows of `size` elements reads and writes in memory order; an empty
  // list if prefetching them does not pay.
  std::vector<Stream> Streams(int64_t size);

  // For each result that is a sum, the buffer in which it is added up.
  std::vector<ElementEmitter::Buffer> accumulators_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_
