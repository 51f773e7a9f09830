#include "tools/checkpoint/npz.h"

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "tools/checkpoint/load.h"

namespace tandem {
namespace {
constexpr char kGlobalStep[] = "global_step";
}  // namespace

absl::StatusOr<TensorMap> ArraysOf(const CheckpointData& data) {
  TensorMap arrays = data.variables;
  arrays.insert(data.slots.begin(), data.slots.end());
  if (!arrays.emplace(kGlobalStep, HostTensor::Scalar<int64_t>(data.global_step)).second) {
    return absl::InvalidArgumentError(absl::StrCat("a variable is called \"", kGlobalStep,
                                                   "\", which is the step's name in an .npz file; rename it first"));
  }
  return arrays;
}

absl::StatusOr<CheckpointData> CheckpointOf(const std::vector<std::pair<std::string, HostTensor>>& arrays,
                                            const std::string& path) {
  CheckpointData data;
  TensorMap all;
  for (const auto& [name, value] : arrays) {
    if (name.empty()) return absl::DataLossError(absl::StrCat(path, ": an array has no name"));
    if (!all.emplace(name, value).second) {
      return absl::DataLossError(absl::StrCat(path, ": has two arrays called \"", PrintableLine(name), "\""));
    }
  }
  if (auto it = all.find(kGlobalStep); it != all.end()) {
    const HostTensor& step = it->second;
    if (step.dtype() != DType::kInt64 || step.rank() != 0 || step.data<int64_t>()[0] < 0) {
      return absl::DataLossError(absl::StrCat(path, ": \"", kGlobalStep, "\" is ", Name(step.dtype()),
                                              ShapeString(step.shape()),
                                              ", and a step is one int64 that is not negative; leave it out for 0"));
    }
    data.global_step = step.data<int64_t>()[0];
    all.erase(it);
  }
  if (all.empty()) return absl::DataLossError(absl::StrCat(path, ": has no arrays that could become variables"));
  for (auto& [name, value] : all) (IsSlotName(name, all) ? data.slots : data.variables)[name] = value;
  return data;
}

}  // namespace tandem
