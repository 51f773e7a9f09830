// VariableAccess: the values of a model's variables, for programs that read and assign them.
#ifndef TANDEM_ESTIMATOR_VARIABLE_ACCESS_H_
#define TANDEM_ESTIMATOR_VARIABLE_ACCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/named_tensors.h"

namespace tandem {

struct ReadVariablesOptions {
  // Where no names are given: the optimizer's slots too ("dense/kernel/Adam"), and not the model's variables alone.
  bool slots = false;
};

struct AssignVariablesOptions {
  // The training steps that the values come from.
  std::optional<int64_t> global_step = std::nullopt;
};

// What Estimator and RunContext offer: their comments say when. The tensors are copies.
class VariableAccess {
 public:
  virtual ~VariableAccess() = default;
  // Those of the names, which may be slots; of no names all. NotFound lists every name that is not there.
  virtual absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names,
                                                     const ReadVariablesOptions& options) = 0;
  // All of them, or after an error none. InvalidArgument lists every name that is not there, with one that may have
  // been meant, and every value of another type or shape.
  virtual absl::Status AssignVariables(const NamedTensors& values) = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_VARIABLE_ACCESS_H_
