// The work of a step's batched ops, from which follows how the time of a microbatch depends on its rows. Free of MLIR
// types.
#ifndef TANDEM_PASSES_ANALYSIS_STEP_WORK_H_
#define TANDEM_PASSES_ANALYSIS_STEP_WORK_H_

#include <vector>

namespace tandem {

// The work of one op on batched values. Operations and bytes are those of one row, except where a comment says
// otherwise.
struct OpWork {
  struct Read {
    double bytes = 0;
    // Bytes that the microbatch writes between the value's previous use (or its computation) and this read: what a
    // cache must hold for the value to be found there.
    double distance = 0;
  };

  bool library = false;  // a kernel library's primitive; else part of a generated kernel
  double flops = 0;
  std::vector<Read> reads;  // batched operands, except those that stay in registers because a fused op computes them
  double written = 0;       // bytes of the results that are stored: not those that only fused ops read
  double static_bytes = 0;  // bytes of operands without batch, which every call reads, however many rows it has
  // Bytes of Winograd's transformed kernels. Every call reads them too, with so few operations per byte that computing
  // does not hide the reading.
  double streamed_bytes = 0;
  // Bytes of results that are sums over the rows: every call writes them, and all calls of a lane (a part of the batch)
  // but the first add them to the lane's sum.
  double sum_bytes = 0;
};

struct StepWork {
  std::vector<OpWork> ops;
  // Bytes that all ops write for one row; they pass through the cache before the next microbatch reads the weights.
  double row_bytes = 0;
  double static_bytes = 0;  // bytes of all operands without batch, each counted once
  // Bytes of the sums of one lane (a part of the batch) in the map, a loop over microbatches, that has most of them.
  // Maps reuse this memory.
  double lane_bytes = 0;
  // Bytes of the sums over rows (weight gradients) that are computed behind the maps, some rows of the sum by each
  // task.
  double block_bytes = 0;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_STEP_WORK_H_
