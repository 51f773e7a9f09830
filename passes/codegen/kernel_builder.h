// Emits kernels of loops for CPUs, by three skeletons: loop, row and col.
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
  // Begins a function with `numbers` i64 arguments behind the buffers.
  void Begin(const std::string& name, unsigned numbers);
  // Emits the function that the runtime calls, which calls the one that was emitted last.
  void EmitEntry();

  llvm::SmallVector<int64_t> Radices(mlir::Type type) const { return KernelRadices(kernel_, type); }
  // Emits one nest that stores the results `which`, all of one inner size.
  void EmitStores(ElementEmitter& e, Space space, const std::vector<unsigned>& which);
  // Sets the accumulators of sums over the batch to their neutral elements.
  void EmitNeutral(ElementEmitter& e);

  void EmitLoopKernel();
  // Emits a function for one row (without batch: the only one), and the loop over rows.
  void EmitRowKernel();
  void EmitRow(ElementEmitter& e, const Space& row);
  void Accumulate(ElementEmitter& e, const Space& row, unsigned result);
  void EmitColumnKernel();
  // Add the elements at `points`, consecutive places of the reduced dimensions at one column, to a result: SumColumn
  // for a td.reduce, SumTaps for a column sum.
  void SumColumn(ElementEmitter& e, unsigned result, const Reduction& reduction, llvm::ArrayRef<Point> points);
  void SumTaps(ElementEmitter& e, unsigned result, llvm::ArrayRef<Point> points);
  // True if every row is summed up into memory of its own before it is added to the rows before.
  bool SumsPerRow() const;
  void EmitRowSums(ElementEmitter& e, const std::function<void()>& body);
  // Returns the tensors that a column kernel over rows of `size` elements reads and writes in order of memory, if
  // fetching them ahead pays.
  std::vector<Stream> Streams(int64_t size);
  // Emits a nest over the elements of each result that sums over the batch.
  void ForEachSum(ElementEmitter& e, const std::function<void(unsigned, mlir::ValueRange)>& body);

  std::vector<ElementEmitter::Buffer> accumulators_;  // of column kernels, by result: the buffer of its sums
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_KERNEL_BUILDER_H_
