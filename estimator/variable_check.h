// The variables of all modes are the same ones: a model that declares another shape is told which input made the
// difference.
#ifndef TANDEM_ESTIMATOR_VARIABLE_CHECK_H_
#define TANDEM_ESTIMATOR_VARIABLE_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "estimator/mode_program.h"
#include "runtime/variable_store.h"

namespace tandem {

// InvalidArgument when a variable of `program` exists in `store` with another type or shape. The error names mode,
// variable and the user's line, and, with the one of `others` (null entries and `program` itself are skipped) that
// declares it as it is in the store, the components of the input that differ.
absl::Status CheckVariables(const ModeProgram& program, const VariableStore& store,
                            const std::vector<const ModeProgram*>& others);

// The same of two programs whose variables are not in memory yet.
absl::Status CheckSameVariables(const ModeProgram& program, const ModeProgram& other);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_VARIABLE_CHECK_H_
