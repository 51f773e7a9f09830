// Expected times on a machine: a roofline (operations against bytes from the level of memory that holds them) plus the
// overhead of calls. Free of MLIR types.
#ifndef TANDEM_PASSES_ANALYSIS_COST_MODEL_H_
#define TANDEM_PASSES_ANALYSIS_COST_MODEL_H_

#include "passes/analysis/machine_model.h"

namespace tandem {

// The work of one thread, in operations and bytes. A multiply-add is two operations.
struct Work {
  double library_flops = 0;       // operations in a library's matmuls and convolutions, float32
  double library_bf16_flops = 0;  // operations in a library's matmuls and convolutions on bfloat16 operands
  // Operations in a library's matmuls and convolutions on operands rounded to TensorFloat-32.
  double library_tf32_flops = 0;
  double vector_flops = 0;     // operations in generated kernels
  double transcendentals = 0;  // calls of exp, log, tanh, ... in generated kernels
  double bytes = 0;            // bytes read and written, each operand once
  // Bytes that are touched again and again, so that they must fit a cache for `bytes` to come from there: the operands
  // themselves, or all values of a microbatch. 0: the same as `bytes`.
  double working_set = 0;
  double library_calls = 0, kernel_calls = 0;

  Work& operator+=(const Work& other);  // Adds the work of `other`; working_set becomes the larger of both.
};

enum class Bound { kCompute, kL1, kL2, kL3, kDram, kOverhead };
const char* BoundName(Bound bound);  // "compute", "L1", "L2", "L3", "DRAM", "overhead"

struct Cost {
  double seconds = 0;  // max(compute, memory) + overhead, in seconds
  double compute_seconds = 0, memory_seconds = 0, overhead_seconds = 0;
  Bound bound = Bound::kOverhead;  // what takes longest: compute, a level of memory, or overhead
};

// Returns the bytes per second that one of `threads` busy cores gets when its working set has this many bytes: the
// bandwidth of the smallest level that holds it. The cores share L3 and DRAM evenly once all of them together reach the
// machine's limit.
double Bandwidth(const MachineModel& machine, double working_set_bytes, int threads = 1);
// Returns the smallest level of memory that holds the working set.
Bound LevelOf(const MachineModel& machine, double working_set_bytes, int threads = 1);

// Returns the expected time of `work` on one core while `threads` cores do the same kind of work.
Cost CostOf(const MachineModel& machine, const Work& work, int threads = 1);

}  // namespace tandem

#endif  // TANDEM_PASSES_ANALYSIS_COST_MODEL_H_
