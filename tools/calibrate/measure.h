// Measurements of this machine for passes/analysis/machine_model.h.
#ifndef TANDEM_TOOLS_CALIBRATE_MEASURE_H_
#define TANDEM_TOOLS_CALIBRATE_MEASURE_H_

#include "absl/status/statusor.h"
#include "passes/analysis/machine_model.h"

namespace tandem {

// Measures all constants with at most `threads` threads, in about `seconds`. Every rate is the best, and every overhead
// the least, of several rounds: on a machine with other users, means would depend on them. Sizes of caches are those
// that the system reports. If the CPU has no bfloat16 instructions, that rate is oneDNN's with emulation.
absl::StatusOr<MachineModel> MeasureMachine(int threads, double seconds);

}  // namespace tandem

#endif  // TANDEM_TOOLS_CALIBRATE_MEASURE_H_
