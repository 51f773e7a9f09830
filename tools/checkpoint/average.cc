#include "tools/checkpoint/average.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "tools/checkpoint/load.h"

namespace tandem {
namespace {

using Sums = std::map<std::string, std::vector<double>>;

template <typename T>
void Add(const HostTensor& value, std::vector<double>* sums) {
  const absl::Span<const T> values = value.values<T>();
  sums->resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) (*sums)[i] += static_cast<double>(values[i]);
}

template <typename T>
void Divide(const std::vector<double>& sums, size_t count, HostTensor* value) {
  HostTensor mean(value->dtype(), value->shape());
  T* out = mean.data<T>();
  for (size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<T>(sums[i] / static_cast<double>(count));
  *value = std::move(mean);
}

std::string TypeOf(const TensorMap& tensors, const std::string& name) {
  auto it = tensors.find(name);
  return it == tensors.end() ? "missing" : absl::StrCat(Name(it->second.dtype()), ShapeString(it->second.shape()));
}

absl::Status CheckSameVariables(const std::string& a_path, const TensorMap& a, const std::string& b_path,
                                const TensorMap& b) {
  std::map<std::string, bool> names;
  for (const TensorMap* tensors : {&a, &b}) {
    for (const auto& [name, value] : *tensors) names[name] = true;
  }
  std::vector<std::string> differences;
  for (const auto& [name, present] : names) {
    const std::string in_a = TypeOf(a, name), in_b = TypeOf(b, name);
    if (in_a != in_b) differences.push_back(absl::StrCat(PrintableLine(name), ": ", in_a, " and ", in_b));
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(a_path, " and ", b_path, " are of different models:\n  ",
                                                    absl::StrJoin(differences, "\n  "),
                                                    "\nAverage checkpoints of one model."));
}

}  // namespace

absl::StatusOr<CheckpointData> AverageCheckpoints(Env* env, const std::vector<std::string>& paths) {
  Sums sums;
  CheckpointData result;
  for (size_t i = 0; i < paths.size(); ++i) {
    TD_ASSIGN_OR_RETURN(CheckpointData data, LoadCheckpoint(env, paths[i]));
    if (i > 0) TD_RETURN_IF_ERROR(CheckSameVariables(paths[i - 1], result.variables, paths[i], data.variables));
    for (const auto& [name, value] : data.variables) {
      if (value.dtype() == DType::kFloat32) Add<float>(value, &sums[name]);
      if (value.dtype() == DType::kFloat64) Add<double>(value, &sums[name]);
    }
    result = {.variables = std::move(data.variables), .global_step = data.global_step, .seed = data.seed};
  }
  for (const auto& [name, of_all] : sums) {
    HostTensor& value = result.variables[name];
    value.dtype() == DType::kFloat32 ? Divide<float>(of_all, paths.size(), &value)
                                     : Divide<double>(of_all, paths.size(), &value);
  }
  return result;
}

}  // namespace tandem
