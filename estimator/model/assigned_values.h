// AssignedValues: the values that AssignVariables was called with while no training ran.
#ifndef TANDEM_ESTIMATOR_MODEL_ASSIGNED_VALUES_H_
#define TANDEM_ESTIMATOR_MODEL_ASSIGNED_VALUES_H_

#include <cstdint>
#include <optional>

#include "base/named_tensors.h"

namespace tandem {

// These values replace those that a checkpoint has, or that a new model begins with, until a training has made a step
// with them.
struct AssignedValues {
  NamedTensors tensors;
  bool changed = false;         // true if `tensors` changed since they were written into memory
  std::optional<int64_t> step;  // the global step that the next training begins at, if it was set

  bool empty() const { return tensors.empty(); }
  void Clear() {
    tensors.clear();
    step.reset();
  }
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_ASSIGNED_VALUES_H_
