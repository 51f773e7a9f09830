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
    int64_t offset;               // bytes from the start of `scratch` to the partial sums
    mlir::RankedTensorType type;  // type of one partial sum in `scratch`
  };
  // Describes a block that has stored its partial sums of one tile, a part of the results' elements.
  struct Arrival {
    mlir::Value number, count;       // number of this block among those of the tile, and how many these are
    int64_t most;                    // the most blocks that work on one tile
    int64_t partials_per_block = 1;  // partial sums that one block stores for each sum
    mlir::Value tile;
    int64_t tiles = 1;
    int64_t columns = 0, columns_of_tile = 0;  // if there are several tiles: the columns of all of them, and of one
  };

  // Reserves scratch memory for at most `most` partial sums of each result.
  void PlanPartials(int64_t most);
  // Returns the memory of partial sum `number` of one result.
  ElementEmitter::Buffer PartialBuffer(const Partial& partial, mlir::Value number);
  // Adds up the partial sums of the block's group, and of all groups, if this block is the last one to arrive there.
  // All threads of the block call it after the block has written its partial sums.
  void AddUpPartials(ElementEmitter& e, const Arrival& arrival);
  // Stores those results at `points` that are computed from sums. The thread that has stored the sums does so.
  void StoreEpilogue(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points);

  std::vector<Partial> partials_;

 private:
  // Some of the partial sums of a result: `count` of them, at most `most`, from number `first` on and `stride` apart.
  struct Slots {
    mlir::Value first, count;
    int64_t most, stride;
  };
  mlir::Value SumOfPartials(ElementEmitter& e, const Partial& partial, mlir::Value element, const Slots& slots);
  // Adds up `slots` for each element of the tile. The sums go into the results if they are complete then (`whole`),
  // else into the first slot.
  void SumSlots(ElementEmitter& e, const Arrival& arrival, const Slots& slots, bool whole);
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_PARTIAL_SUMS_H_
