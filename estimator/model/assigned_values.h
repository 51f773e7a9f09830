// AssignedValues: what AssignVariables was given outside of a training.
#ifndef TANDEM_ESTIMATOR_MODEL_ASSIGNED_VALUES_H_
#define TANDEM_ESTIMATOR_MODEL_ASSIGNED_VALUES_H_

#include <cstdint>
#include <optional>

#include "base/named_tensors.h"

namespace tandem {

// They take the place of the values that a checkpoint has, or that a new model begins with, until a training has made a
// step with them.
struct AssignedValues {
  NamedTensors tensors;
  bool changed = false;         // since they were written into memory
  std::optional<int64_t> step;  // from which the next training goes on

  bool empty() const { return tensors.empty(); }
  void Clear() {
    tensors.clear();
    step.reset();
  }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_ASSIGNED_VALUES_H_
