// Finds where two runs begin to differ, and why.
#ifndef TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_
#define TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct RunDifferences {
  bool equal = true;  // true if all steps and checkpoints that both runs have are equal
  std::string text;   // the report for the user
};

// Compares the records (steps.bits, run.json) and checkpoints of two model_dirs. The report first shows differences
// that can change the bits: program, numbers, seed, data, input, division of the batch, precision, processor; then the
// other differences. NotFound if a directory has no record; also the errors of reading.
absl::StatusOr<RunDifferences> CompareRuns(Env* env, const std::string& dir_a, const std::string& dir_b);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_
