// Makes an executable read other variables than it was compiled for.
#ifndef TANDEM_ESTIMATOR_MODEL_RENAMED_VARIABLES_H_
#define TANDEM_ESTIMATOR_MODEL_RENAMED_VARIABLES_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Returns the same program, except that it uses variable `names[a]` in place of `a`. If the program already has a
// variable `names[a]`, because the model_fn builds its optimizer for evaluations too, that one is renamed to `a`.
absl::StatusOr<std::shared_ptr<const Executable>> RenameVariables(const Executable& executable,
                                                                  const std::map<std::string, std::string>& names);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_RENAMED_VARIABLES_H_
