#include "estimator/keras/files/optimizer_state.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace tandem::keras {
namespace {

struct TrainedVariables {
  std::vector<std::string> keras, tandem;
  std::vector<Shape> shapes;
};

TrainedVariables TrainedOf(const NetworkImpl& model, const VariableNames& names) {
  TrainedVariables trained;
  for (const auto& cell : model.OrderedCells()) {
    if (!cell->trainable || !cell->layer->trainable()) continue;
    const auto name = names.find(cell.get());
    trained.keras.push_back(cell->FullName());
    trained.tandem.push_back(name != names.end() ? name->second : cell->FullName());
    trained.shapes.push_back(cell->shape);
  }
  return trained;
}

// Returns "iteration" for "iteration:0" and for "adam/iteration".
absl::string_view LastPart(absl::string_view name) {
  absl::ConsumeSuffix(&name, ":0");
  const size_t slash = name.rfind('/');
  return slash == absl::string_view::npos ? name : name.substr(slash + 1);
}

bool SameShapes(const std::vector<StateSlot>& slots, const std::vector<FileWeight>& file) {
  return std::equal(slots.begin(), slots.end(), file.begin(), file.end(),
                    [](const StateSlot& slot, const FileWeight& weight) { return slot.shape == weight.shape; });
}

absl::StatusOr<int64_t> ReadIteration(const FileWeight& weight) {
  for (const DType dtype : {DType::kInt64, DType::kInt32}) {
    if (absl::StatusOr<HostTensor> number = weight.read(dtype); number.ok()) {
      return dtype == DType::kInt64 ? *number->data<int64_t>() : *number->data<int32_t>();
    }
  }
  // The number is a float in files from before Keras 2.1.
  TD_ASSIGN_OR_RETURN(const HostTensor number, weight.read(DType::kFloat32));
  return static_cast<int64_t>(*number.data<float>());
}

}  // namespace

std::vector<StateSlot> StateSlots(const NetworkImpl& model, const VariableNames& names, const Optimizer& optimizer,
                                  SlotLayout layout) {
  const TrainedVariables trained = TrainedOf(model, names);
  // In Keras, two weights of nested models may have the same name, so the slots' variables are found by the weights'
  // positions.
  std::vector<std::string> positions;
  for (size_t i = 0; i < trained.keras.size(); ++i) positions.push_back(absl::StrCat(i));
  const std::vector<OptimizerSlot> by_keras = optimizer.Slots(trained.keras, layout);
  const std::vector<OptimizerSlot> by_tandem = optimizer.Slots(trained.tandem, layout);
  const std::vector<OptimizerSlot> by_position = optimizer.Slots(positions, layout);
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < positions.size(); ++i) index[positions[i]] = i;
  std::vector<StateSlot> slots;
  for (size_t i = 0; i < by_keras.size(); ++i) {
    slots.push_back({by_keras[i].name, by_tandem[i].slot, trained.shapes[index[by_position[i].variable]]});
  }
  return slots;
}

absl::StatusOr<OptimizerState> StateFromFile(const NetworkImpl& model, const VariableNames& names,
                                             const Optimizer& optimizer, const std::vector<FileWeight>& file) {
  OptimizerState state;
  if (file.empty() || !optimizer.config().named()) return state;
  std::vector<FileWeight> rest = file;
  bool legacy = false;
  if (rest[0].shape.empty()) {
    TD_ASSIGN_OR_RETURN(state.iteration, ReadIteration(rest[0]));
    if (state.iteration < 0) {
      return absl::InvalidArgumentError(absl::StrCat(rest[0].where, " is ", state.iteration, ", and counts steps"));
    }
    legacy = LastPart(rest[0].name) != "iteration" && rest[0].name != "0";
    rest.erase(rest.begin());
    // Removes single numbers: the learning rate, which Keras 3 saves here although it is also in the optimizer's
    // config, and products that are computed from the iteration.
    std::erase_if(rest, [](const FileWeight& weight) { return weight.shape.empty(); });
  } else {
    // The first versions of RMSprop saved no number of steps.
    legacy = true;
  }
  // Before Keras 2.3, files had tensors of one element in place of the slots of amsgrad.
  const auto is_placeholder = [](const FileWeight& weight) { return weight.shape == Shape{1}; };
  std::vector<StateSlot> slots =
      StateSlots(model, names, optimizer, legacy ? SlotLayout::kLegacy : SlotLayout::kKeras2);
  if (legacy && rest.size() == slots.size() / 2 * 3 &&
      std::all_of(rest.begin() + static_cast<int64_t>(slots.size()), rest.end(), is_placeholder)) {
    rest.resize(slots.size());
  }
  if (!SameShapes(slots, rest)) {
    // Keras 3 does not save slots that are always zero.
    std::vector<StateSlot> used = slots;
    std::erase_if(used, [](const StateSlot& slot) { return slot.slot.empty(); });
    if (!SameShapes(used, rest)) {
      return absl::InvalidArgumentError(
          absl::StrCat(file[0].where, ": the state of ", optimizer.config().class_name, " has ", rest.size(),
                       " tensors behind the iteration; for the model's weights it has ", slots.size(),
                       slots.size() == rest.size() ? " of other shapes" : ""));
    }
    slots = std::move(used);
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].slot.empty()) continue;
    TD_ASSIGN_OR_RETURN(state.slots[slots[i].slot], rest[i].read(DType::kFloat32));
  }
  const TrainedVariables trained = TrainedOf(model, names);
  for (const auto& [slot, value] : optimizer.SlotsOfIteration(trained.tandem, state.iteration)) {
    const auto variable = std::find_if(trained.tandem.begin(), trained.tandem.end(), [&](const std::string& name) {
      return absl::StartsWith(slot, absl::StrCat(name, "/"));
    });
    if (variable == trained.tandem.end()) continue;
    HostTensor filled(DType::kFloat32, trained.shapes[variable - trained.tandem.begin()]);
    std::fill_n(filled.data<float>(), filled.num_elements(), static_cast<float>(value));
    state.slots[slot] = std::move(filled);
  }
  return state;
}

std::vector<std::pair<std::string, HostTensor>> StateToFile(const NetworkImpl& model, const VariableNames& names,
                                                            const Optimizer& optimizer, const OptimizerState& state) {
  std::vector<std::pair<std::string, HostTensor>> file;
  if (!optimizer.config().named()) return file;
  HostTensor iteration(DType::kInt64, {});
  *iteration.data<int64_t>() = state.iteration;
  file.emplace_back("iteration:0", std::move(iteration));
  for (const StateSlot& slot : StateSlots(model, names, optimizer)) {
    const auto value = state.slots.find(slot.slot);
    if (value != state.slots.end()) {
      file.emplace_back(slot.name, value->second);
      continue;
    }
    HostTensor zeros(DType::kFloat32, slot.shape);
    std::fill_n(zeros.data<float>(), zeros.num_elements(), 0.0f);
    file.emplace_back(slot.name, std::move(zeros));
  }
  return file;
}

}  // namespace tandem::keras
