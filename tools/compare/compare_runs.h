// Finds where two runs begin to differ, and why.
#ifndef TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_
#define TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct RunDifferences {
  bool equal = true;  // no step and no checkpoint that both runs have differs
  std::string text;   // lines for the user
};

// Compares the records (steps.bits, run.json) and checkpoints of two model_dirs. First shows differences that can
// change the bits: program, numbers, seed, data, input, division of the batch, precision, processor; then the others.
// Errors: NotFound if one has no record; those of reading.
absl::StatusOr<RunDifferences> CompareRuns(Env* env, const std::string& dir_a, const std::string& dir_b);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_
