#include "runtime/step_inputs.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

uint64_t ScalarBits(DType dtype, double value) {
  uint64_t bits = 0;
  auto put = [&](auto v) { std::memcpy(&bits, &v, sizeof v); };
  switch (dtype) {
    case DType::kFloat32:
      put(static_cast<float>(value));
      break;
    case DType::kFloat64:
      put(value);
      break;
    case DType::kInt32:
      put(static_cast<int32_t>(value));
      break;
    case DType::kInt64:
      put(static_cast<int64_t>(value));
      break;
    case DType::kUInt8:
      put(static_cast<uint8_t>(value));
      break;
    default:
      put(static_cast<uint8_t>(value != 0));
  }
  return bits;
}

absl::Status ResolveReplica(const Executable& executable, const std::vector<HostTensor>& tensors, size_t r,
                            ReplicaInputs& replica) {
  const fb::ExecutableT& index = executable.index();
  if (tensors.size() != index.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("replica ", r, ": ", tensors.size(), " inputs; the program has ", index.inputs.size()));
  }
  replica.rows = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const fb::InputT& in = *index.inputs[i];
    const HostTensor& t = tensors[i];
    bool fits = t.dtype() == static_cast<DType>(in.dtype) && t.shape().size() == in.shape.size() &&
                std::equal(t.shape().begin() + 1, t.shape().end(), in.shape.begin() + 1);
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("replica ", r, ": input '", in.name, "' is ", Name(t.dtype()),
                                                     ShapeString(t.shape()), "; the program takes ",
                                                     Name(static_cast<DType>(in.dtype)), ShapeString(in.shape)));
    }
    int64_t rows = t.shape()[0];
    if (rows > executable.rows_per_replica() || (i > 0 && rows != replica.rows)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "replica ", r, ": input '", in.name, "' has ", rows, " rows; ",
          i > 0 && rows != replica.rows ? absl::StrCat("other inputs have ", replica.rows)
                                        : absl::StrCat("the program takes at most ", executable.rows_per_replica())));
    }
    replica.rows = rows;
    replica.inputs[i] = static_cast<const uint8_t*>(t.raw());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveStepInputs(const Executable& executable, const StepInputs& step,
                               std::vector<ReplicaInputs>* replicas) {
  const fb::ExecutableT& index = executable.index();
  replicas->resize(executable.num_replicas());
  if (step.inputs.size() != replicas->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("inputs for ", step.inputs.size(), " replicas; the program has ", replicas->size()));
  }
  int64_t total = 0;
  for (size_t r = 0; r < replicas->size(); ++r) {
    ReplicaInputs& replica = (*replicas)[r];
    replica.inputs.resize(index.inputs.size());
    replica.scalars.resize(index.scalars.size());
    TD_RETURN_IF_ERROR(ResolveReplica(executable, step.inputs[r], r, replica));
    replica.first_row = total;
    total += replica.rows;
  }
  for (size_t i = 0; i < index.scalars.size(); ++i) {
    const fb::ScalarT& s = *index.scalars[i];
    for (ReplicaInputs& replica : *replicas) {
      double value;
      if (s.name == "example_count") {
        value = static_cast<double>(total);
      } else if (s.name == "replica_example_count") {
        value = static_cast<double>(replica.rows);
      } else {
        auto found = step.scalars.find(s.name);
        if (found == step.scalars.end()) {
          return absl::InvalidArgumentError(absl::StrCat("the step needs a value for scalar '", s.name, "'"));
        }
        value = found->second;
      }
      replica.scalars[i] = ScalarBits(static_cast<DType>(s.dtype), value);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckVariablesInitialized(const Executable& executable, const VariableStore& variables) {
  for (const auto& v : executable.index().variables) {
    TD_ASSIGN_OR_RETURN(VariableInfo info, variables.Info(v->name));
    if (!info.initialized) {
      return absl::FailedPreconditionError(
          absl::StrCat("variable ", v->name, " has no value: initialise it or restore a checkpoint"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
