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
  std::vector<Read> reads;  // batched operands, except those that a fused neighbour hands over in registers
  double written = 0;       // bytes of results that are stored: those not handed over in registers
  double static_bytes = 0;  // operands without batch: read by every call, however many rows it has
  // Bytes of transformed kernels of Winograd's algorithm: also read by every call, with so few operations per byte that
  // computing does not hide the reading.
  double streamed_bytes = 0;
  double sum_bytes = 0;  // results summed over the rows: every call writes them, and all but the lane's first
                         // microbatch add them to the lane's sum
};

struct StepWork {
  std::vector<OpWork> ops;
  double row_bytes = 0;     // bytes that all ops write for one row, in between two microbatches' uses of the weights
  double static_bytes = 0;  // bytes of all operands without batch, each counted once
  double lane_bytes = 0;    // bytes of one lane's sums: the most of any one map, since maps share the memory
  double block_bytes = 0;   // bytes of the sums over the rows that are computed block by block behind the maps
};

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_STEP_WORK_H_
