// VariableAccess: reads and assigns the values of a model's variables.
#ifndef TANDEM_ESTIMATOR_LOOP_VARIABLE_ACCESS_H_
#define TANDEM_ESTIMATOR_LOOP_VARIABLE_ACCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/named_tensors.h"

namespace TANDEM_API tandem {

struct ReadVariablesOptions {
  // If no names are given, return the optimizer's slots too ("dense/kernel/Adam"), not only the model's variables.
  bool slots = false;
};

struct AssignVariablesOptions {
  // The global step that the values are taken to belong to: the next training goes on as if it had made this many
  // steps. If not set, the step does not change.
  std::optional<int64_t> global_step = std::nullopt;
};

// Implemented for Estimator and RunContext, whose comments say when the methods may be called. The tensors are copies.
class VariableAccess {
 public:
  virtual ~VariableAccess() = default;
  // Returns the named variables, which may be slots; without names, all. NotFound lists every name that does not exist.
  virtual absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names,
                                                     const ReadVariablesOptions& options) = 0;
  // Assigns all values or, after an error, none. InvalidArgument lists every name that does not exist, with a similar
  // one, and every value of another type or shape.
  virtual absl::Status AssignVariables(const NamedTensors& values) = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_VARIABLE_ACCESS_H_
