#include "estimator/model/model_state.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/moving_average_name.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

format::Initializer ToExecutableForm(const Initializer& initializer) {
  format::Initializer result;
  result.kind = static_cast<int8_t>(initializer.kind);
  result.a = initializer.a;
  result.b = initializer.b;
  return result;
}

void Describe(const TensorMap& tensors, const std::set<std::string>* only, std::vector<SavedTensor>* out) {
  for (const auto& [name, tensor] : tensors) {
    if (!only || only->count(name) > 0) out->push_back({name, tensor.dtype(), tensor.shape()});
  }
}

VariableSpec AverageSpec(const VariableSpec& variable) {
  VariableSpec spec;
  spec.name = MovingAverageName(variable.name);
  spec.dtype = variable.dtype;
  spec.shape = variable.shape;
  spec.trainable = false;
  spec.slot_of = variable.name;
  return spec;
}

// Returns the variables of both lists, each name once.
std::vector<VariableSpec> Joined(std::vector<VariableSpec> a, const std::vector<VariableSpec>& b) {
  std::set<std::string> names;
  for (const VariableSpec& v : a) names.insert(v.name);
  for (const VariableSpec& v : b) {
    if (names.insert(v.name).second) a.push_back(v);
  }
  return a;
}

struct NonFinite {
  int64_t count = 0, first = 0;
  double value = 0;  // first value that is not finite
};

template <typename T>
NonFinite FindNonFinite(absl::Span<const T> values) {
  NonFinite found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) || found.count++ > 0) continue;
    found.first = static_cast<int64_t>(i);
    found.value = values[i];
  }
  return found;
}

}  // namespace

absl::Status ModelState::Initialize(const std::vector<VariableSpec>& variables, uint64_t seed, Which which) {
  std::set<std::string> had_value;
  for (const VariableSpec& v : variables) {
    TD_RETURN_IF_ERROR(store_->Create({v.name, v.dtype, v.shape, v.trainable, v.slot_of}));
    TD_ASSIGN_OR_RETURN(const VariableInfo info, store_->Info(v.name));
    if (which == Which::kMissing && info.initialized) {
      had_value.insert(v.name);
      continue;
    }
    TD_RETURN_IF_ERROR(InitializeOne(v, seed));
  }
  if (which == Which::kAll) return ResetAverages([](const std::string&) { return false; });
  if (had_value.size() == variables.size()) return absl::OkStatus();
  std::set<std::string> mine;
  for (const VariableSpec& v : variables) mine.insert(v.name);
  return ResetAverages([&](const std::string& name) { return !mine.contains(name) || had_value.contains(name); });
}

absl::Status ModelState::InitializeOne(const VariableSpec& variable, uint64_t seed) {
  if (variable.first_value == nullptr) {
    return store_->Initialize(variable.name, ToExecutableForm(variable.initializer), seed);
  }
  absl::StatusOr<HostTensor> value =
      CallUserCode([&] { return variable.first_value(variable.name, variable.dtype, variable.shape, seed); });
  if (value.ok()) return store_->Assign(variable.name, *value);
  return Annotate(value.status(), absl::StrCat("the first value of \"", variable.name, "\": "));
}

absl::Status ModelState::ResetAverages(const std::function<bool(const std::string&)>& keep) {
  for (const VariableInfo& average : store_->List()) {
    if (average.slot_of.empty() || average.name != MovingAverageName(average.slot_of) || !average.initialized) continue;
    const absl::StatusOr<VariableInfo> variable = store_->Info(average.slot_of);
    if (keep(average.name) || !variable.ok() || !variable->initialized) continue;
    TD_ASSIGN_OR_RETURN(const HostTensor value, store_->Read(average.slot_of));
    TD_RETURN_IF_ERROR(store_->Assign(average.name, value));
  }
  return absl::OkStatus();
}

std::vector<VariableSpec> ModelState::AveragesOf(const std::vector<VariableSpec>& variables) const {
  std::vector<VariableSpec> averages;
  for (const VariableSpec& v : variables) {
    const absl::StatusOr<VariableInfo> info = store_->Info(MovingAverageName(v.name));
    if (!info.ok() || !info->initialized || info->slot_of != v.name || info->dtype != v.dtype ||
        info->shape != v.shape) {
      continue;
    }
    averages.push_back(AverageSpec(v));
  }
  return averages;
}

std::vector<VariableSpec> ModelState::WithAverages(const std::vector<VariableSpec>& variables) const {
  return Joined(variables, AveragesOf(variables));
}

std::vector<VariableSpec> ModelState::WithAverages(const CheckpointData& data,
                                                   const std::vector<VariableSpec>& variables) {
  std::vector<VariableSpec> averages;
  for (const VariableSpec& v : variables) {
    auto it = data.slots.find(MovingAverageName(v.name));
    if (it == data.slots.end() || it->second.dtype() != v.dtype || it->second.shape() != v.shape) continue;
    averages.push_back(AverageSpec(v));
  }
  return Joined(variables, averages);
}

absl::Status ModelState::Set(const TensorMap& values) {
  for (const auto& [name, value] : values) TD_RETURN_IF_ERROR(store_->Assign(name, value));
  return ResetAverages([&](const std::string& name) { return values.contains(name); });
}

absl::Status ModelState::Assign(const TensorMap& values) {
  std::set<std::string> averages;
  for (const auto& [name, value] : values) {
    TD_RETURN_IF_ERROR(store_->Assign(name, value));
    if (const std::string average = MovingAverageName(name); !values.contains(average)) averages.insert(average);
  }
  return ResetAverages([&](const std::string& name) { return !averages.contains(name); });
}

absl::Status ModelState::Restore(const CheckpointData& data, const std::string& path,
                                 const std::vector<VariableSpec>& variables, bool exact) {
  std::set<std::string> names;
  std::vector<SavedTensor> wanted, saved;
  for (const VariableSpec& v : variables) {
    names.insert(v.name);
    wanted.push_back({v.name, v.dtype, v.shape});
  }
  Describe(data.variables, exact ? nullptr : &names, &saved);
  Describe(data.slots, exact ? nullptr : &names, &saved);
  TD_RETURN_IF_ERROR(CompareWithModel(path, saved, wanted));
  for (const VariableSpec& v : variables) {
    TD_RETURN_IF_ERROR(store_->Create({v.name, v.dtype, v.shape, v.trainable, v.slot_of}));
    auto it = data.variables.find(v.name);
    if (it == data.variables.end()) it = data.slots.find(v.name);
    TD_RETURN_IF_ERROR(store_->Assign(v.name, it->second));
  }
  return ResetAverages([&](const std::string& name) { return names.contains(name); });
}

absl::StatusOr<VariableSnapshot> ModelState::Snapshot(const std::vector<VariableSpec>& variables) const {
  std::vector<std::string> names;
  for (const VariableSpec& v : variables) names.push_back(v.name);
  return store_->Snapshot(names);
}

absl::Status ModelState::FillFrom(VariableSnapshot& snapshot, const std::vector<VariableSpec>& variables,
                                  CheckpointData* data) {
  TD_ASSIGN_OR_RETURN(std::vector<HostTensor> values, snapshot.Take());
  for (size_t i = 0; i < variables.size(); ++i) {
    (variables[i].slot_of.empty() ? data->variables : data->slots)[variables[i].name] = std::move(values[i]);
  }
  return absl::OkStatus();
}

absl::Status ModelState::CheckFinite(const CheckpointData& data) {
  for (const TensorMap* tensors : {&data.variables, &data.slots}) {
    for (const auto& [name, value] : *tensors) {
      const NonFinite found = value.dtype() == DType::kFloat32   ? FindNonFinite(value.values<float>())
                              : value.dtype() == DType::kFloat64 ? FindNonFinite(value.values<double>())
                                                                 : NonFinite();
      if (found.count == 0) continue;
      return WithExitCode(
          absl::InternalError(absl::StrCat(
              "the checkpoint of step ", data.global_step, " is not saved: ", name, " has ", found.count, " of ",
              value.num_elements(), " values that are not finite, the first is element ", found.first, ": ",
              found.value, ". ",
              data.global_step == 0 ? "It began so: look at its initializer, or at what warm_start_from has."
                                    : "Loss and gradients were finite, so an update overflowed: lower the learning "
                                      "rate or clip the gradients. The checkpoint before is the latest.")),
          kExitInternal);
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
