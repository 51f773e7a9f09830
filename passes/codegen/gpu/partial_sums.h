// Kernels whose blocks leave partial sums over the batch, which the last blocks to arrive add up.
#ifndef TANDEM_PASSES_CODEGEN_GPU_PARTIAL_SUMS_H_
#define TANDEM_PASSES_CODEGEN_GPU_PARTIAL_SUMS_H_

#include <vector>

#include "passes/codegen/gpu/gpu_kernel_builder.h"

namespace tandem {

class PartialSums : public GpuKernelBuilder {
 protected:
  using GpuKernelBuilder::GpuKernelBuilder;

  struct Partial {
    unsigned result;
    td::ReduceKind kind;
    int64_t elements;
    int64_t offset;               // bytes from the start of `scratch`
    mlir::RankedTensorType type;  // type of the sum in `scratch`
  };
  // The arrival of a block that has left its partial sums of one tile of the results' elements.
  struct Arrival {
    mlir::Value number, count;       // number of this block, and of blocks, of the tile
    int64_t most;                    // most blocks of a tile
    int64_t partials_per_block = 1;  // partial sums that a block leaves of each sum
    mlir::Value tile;
    int64_t tiles = 1;
    int64_t columns = 0, columns_of_tile = 0;  // set if there are several tiles, which consist of columns
  };

  // Reserves scratch memory for partial sums. `most`: the most partial sums of each result.
  void PlanPartials(int64_t most);
  // Returns the memory of partial sum `number` of one result.
  ElementEmitter::Buffer PartialBuffer(const Partial& partial, mlir::Value number);
  // Adds up partial sums as far as this block is the last one to arrive. All threads of the block come here, when the
  // block has written its partial sums.
  void AddUpPartials(ElementEmitter& e, const Arrival& arrival);
  // Stores the results that are computed from sums at these points; the thread that has stored the sums does so.
  void StoreEpilogue(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points);

  std::vector<Partial> partials_;

 private:
  // Partial sums of one result: `count` of them, at most `most`, from number `first` on and `stride` apart.
  struct Slots {
    mlir::Value first, count;
    int64_t most, stride;
  };
  mlir::Value SumOfPartials(ElementEmitter& e, const Partial& partial, mlir::Value element, const Slots& slots);
  // Adds up the slots for each of the tile's elements: into the results if the sums are `whole` then, else into the
  // first slot.
  void SumSlots(ElementEmitter& e, const Arrival& arrival, const Slots& slots, bool whole);
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_PARTIAL_SUMS_H_
