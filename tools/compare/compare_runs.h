// Where two runs part, and why.
#ifndef TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_
#define TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

struct RunDifferences {
  bool equal = true;  // no step that both have recorded differs, nor a checkpoint that both have
  std::string text;   // lines
};

// Compares the records (steps.bits, run.json) and checkpoints of two model_dirs. What may decide about bits comes
// first: program, numbers, seed, data, input, how the batch is cut, precision, processor; then what does not. Errors:
// NotFound where one has no record; those of reading.
absl::StatusOr<RunDifferences> CompareRuns(Env* env, const std::string& dir_a, const std::string& dir_b);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMPARE_COMPARE_RUNS_H_
