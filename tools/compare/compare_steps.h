// Finds where two computations of the same step begin to differ.
#ifndef TANDEM_TOOLS_COMPARE_COMPARE_STEPS_H_
#define TANDEM_TOOLS_COMPARE_COMPARE_STEPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/compare/compare_runs.h"

namespace tandem {

// Compares two files that --replay_out has written, with the tensors of one step, in the order of the model. The
// difference arises in the first tensor that differs. The report shows the op and source line of that tensor, how many
// elements differ and by how much, and which later tensors differ. Arrays that NumPy has written have no order, and are
// compared by their names. InvalidArgument for files of two different steps; also the errors of ReadStepFile.
absl::StatusOr<RunDifferences> CompareSteps(const std::string& path_a, const std::string& path_b);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COMPARE_COMPARE_STEPS_H_
