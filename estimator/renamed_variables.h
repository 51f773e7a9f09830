// An executable that reads other variables than it was compiled for.
#ifndef TANDEM_ESTIMATOR_RENAMED_VARIABLES_H_
#define TANDEM_ESTIMATOR_RENAMED_VARIABLES_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable.h"

namespace tandem {

// The same program, of which variable `a` is `names[a]`. A variable that has the new name already, as where a model_fn
// builds its optimizer for evaluations too, takes the old one.
absl::StatusOr<std::shared_ptr<const Executable>> RenameVariables(const Executable& executable,
                                                                  const std::map<std::string, std::string>& names);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RENAMED_VARIABLES_H_
