// Converts an optimizer's state between files and Tandem's variables. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_FILES_OPTIMIZER_STATE_H_
#define TANDEM_ESTIMATOR_KERAS_FILES_OPTIMIZER_STATE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "estimator/keras/files/model_weights.h"
#include "estimator/keras/files/weight_file.h"
#include "frontends/keras/network.h"
#include "frontends/keras/optimizer.h"

namespace tandem::keras {

struct OptimizerState {
  int64_t iteration = 0;  // number of steps so far
  NamedTensors slots;     // by Tandem's names of slots, such as "dense/kernel/Adam"
};

// StateSlots returns the slots of `optimizer` for the trained weights of `model`, in the order of files; none for an
// optimizer that files cannot name.
struct StateSlot {
  std::string name;  // the slot's name in Keras
  std::string slot;  // the slot's name in Tandem; empty: its values are always zero
  Shape shape;
};
std::vector<StateSlot> StateSlots(const NetworkImpl& model, const VariableNames& names, const Optimizer& optimizer,
                                  SlotLayout layout = SlotLayout::kKeras2);

// Converts the tensors `file` of a file to a state. Accepts the order of Keras 2 before and after 2.11, and of Keras 3.
// InvalidArgument says what does not fit.
absl::StatusOr<OptimizerState> StateFromFile(const NetworkImpl& model, const VariableNames& names,
                                             const Optimizer& optimizer, const std::vector<FileWeight>& file);

// Returns the state as names and tensors for a file: "iteration:0", then the slots. Slots that `state` lacks are zeros.
std::vector<std::pair<std::string, HostTensor>> StateToFile(const NetworkImpl& model, const VariableNames& names,
                                                            const Optimizer& optimizer, const OptimizerState& state);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_FILES_OPTIMIZER_STATE_H_
