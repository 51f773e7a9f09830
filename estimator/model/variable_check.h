// Checks that all modes declare the same variables. If a model declares one with another shape, the error names the
// input that made the difference.
#ifndef TANDEM_ESTIMATOR_MODEL_VARIABLE_CHECK_H_
#define TANDEM_ESTIMATOR_MODEL_VARIABLE_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "estimator/model/mode_program.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// Returns InvalidArgument if a variable of `program` exists in `store` with another type or shape. The error names
// mode, variable and the user's line. If one of `others` (null entries and `program` itself are skipped) declares it as
// it is in the store, the error also names the input components that differ.
absl::Status CheckVariables(const ModeProgram& program, const VariableStore& store,
                            const std::vector<const ModeProgram*>& others);

// Like CheckVariables, for two programs whose variables are not in memory yet.
absl::Status CheckSameVariables(const ModeProgram& program, const ModeProgram& other);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_VARIABLE_CHECK_H_
