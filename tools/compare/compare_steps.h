// Finds where two computations of the same step begin to differ.
#ifndef TANDEM_TOOLS_COMPARE_COMPARE_STEPS_H_
#define TANDEM_TOOLS_COMPARE_COMPARE_STEPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/compare/compare_runs.h"

namespace tandem {

// Compares two files of --replay_out, tensor by tensor in the order of the model. The first tensor that differs is
// where the difference arises: shows its op and line, how many elements differ and by how much, and which later tensors
// differ. Arrays that NumPy has written are compared by their names. Errors: InvalidArgument for files of two different
// steps; those of ReadStepFile.
absl::StatusOr<RunDifferences> CompareSteps(const std::string& path_a, const std::string& path_b);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMPARE_COMPARE_STEPS_H_
