// How the time of one microbatch depends on its rows: the work of a step's batched ops, free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_STEP_WORK_H_
#define TANDEM_PASSES_ANALYSIS_STEP_WORK_H_

#include <vector>

namespace tandem {

// One op on batched values, in the order of execution. Operations and bytes are of one row but where it says otherwise.
struct OpWork {
  struct Read {
    double bytes = 0;
    // Bytes that the microbatch writes between this read and the value's last use before, or its making: what a cache
    // must hold for it to be found there.
    double distance = 0;
  };

  bool library = false;  // a kernel library's primitive; else part of a generated kernel
  double flops = 0;
  std::vector<Read> reads;  // what is not handed over in registers by a fused neighbour
  double written = 0;       // the same of results
  double static_bytes = 0;  // operands without batch: read by every call, whatever its rows
  // Transformed kernels of Winograd's algorithm: read by every call too, and with so few operations on each byte that
  // these do not hide it.
  double streamed_bytes = 0;
  double sum_bytes = 0;  // results summed over the rows: written by every call, added to the lane's sum by all but the
                         // lane's first microbatch
};

struct StepWork {
  std::vector<OpWork> ops;
  double row_bytes = 0;     // written by one row in all ops: what lies between two microbatches' uses of the weights
  double static_bytes = 0;  // of all operands without batch
  double lane_bytes = 0;    // one lane's sums: the most that any one map has, which share places by life time
  double block_bytes = 0;   // of sums over the rows that are computed block by block behind the maps
};

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_STEP_WORK_H_
