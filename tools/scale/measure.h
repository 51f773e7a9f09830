// Measures a compiled program on this machine, on random inputs.
#ifndef TANDEM_TOOLS_SCALE_MEASURE_H_
#define TANDEM_TOOLS_SCALE_MEASURE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/run/run.h"
#include "tools/scale/step_model.h"

namespace tandem {

struct Measured {
  CommandSeconds commands;  // mean seconds of each command on one device
  double wall = 0;          // median seconds per step that the caller sees, without recording commands
};

// Runs two steps to warm up, `runs` steps for the wall time, and as many again with recording, on as many threads as
// the program has replicas. Errors: those of LoadExecutable and Run.
absl::StatusOr<Measured> Measure(const std::string& path, int runs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_MEASURE_H_
