// Measures the constants of passes/analysis/machine_model.h on this machine.
#ifndef TANDEM_TOOLS_CALIBRATE_MEASURE_H_
#define TANDEM_TOOLS_CALIBRATE_MEASURE_H_

#include "absl/status/statusor.h"
#include "passes/analysis/machine_model.h"

namespace tandem {

// Measures all constants with at most `threads` threads, in about `seconds`. Every rate is the best, and every overhead
// the least, of several rounds, because means would depend on what other users of the machine do. The sizes of caches
// are those that the system reports. If the CPU has no bfloat16 instructions, the bfloat16 rate is that of oneDNN's
// emulation.
absl::StatusOr<MachineModel> MeasureMachine(int threads, double seconds);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CALIBRATE_MEASURE_H_
