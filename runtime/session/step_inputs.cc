#include "runtime/session/step_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

// Sets `out` to `value` without its fraction. Returns false if T cannot represent the result.
template <typename T>
bool ToInteger(const ScalarValue& value, T* out) {
  if (value.integral()) {
    *out = static_cast<T>(value.integer());
    return *out == value.integer();
  }
  const double number = std::trunc(value);
  // The largest 64-bit integer is not a double, but the number above it is, so this compares with that one.
  const double end = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (!(number >= static_cast<double>(std::numeric_limits<T>::min()) && number < end)) return false;
  *out = static_cast<T>(number);
  return true;
}

// Stores `value` in `bits` as a number of type `dtype`. Returns false if the type cannot represent it.
bool ToBits(DType dtype, const ScalarValue& value, uint64_t* bits) {
  *bits = 0;
  const auto put = [&](auto v) { std::memcpy(bits, &v, sizeof v); };
  const auto put_integer = [&](auto v) {
    if (!ToInteger(value, &v)) return false;
    put(v);
    return true;
  };
  switch (dtype) {
    case DType::kFloat32: {
      const double number = value;
      put(static_cast<float>(number));
      return std::isfinite(static_cast<float>(number)) || !std::isfinite(number);
    }
    case DType::kFloat64:
      put(static_cast<double>(value));
      return true;
    case DType::kInt32:
      return put_integer(int32_t{0});
    case DType::kInt64:
      return put_integer(int64_t{0});
    case DType::kUInt8:
      return put_integer(uint8_t{0});
    default:
      put(static_cast<uint8_t>(value != 0));
      return true;
  }
}

absl::Status ResolveReplica(const Executable& executable, const std::vector<HostTensor>& tensors, size_t r,
                            ReplicaInputs& replica) {
  const format::Index& index = executable.index();
  if (tensors.size() != index.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("replica ", r, ": ", tensors.size(), " inputs; the program has ", index.inputs.size()));
  }
  replica.rows = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const format::Input& in = index.inputs[i];
    const HostTensor& t = tensors[i];
    bool fits = t.dtype() == in.dtype && t.shape().size() == in.shape.size() &&
                std::equal(t.shape().begin() + 1, t.shape().end(), in.shape.begin() + 1);
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("replica ", r, ": input '", in.name, "' is ", Name(t.dtype()),
                                                     ShapeString(t.shape()), "; the program takes ", Name(in.dtype),
                                                     ShapeString(in.shape)));
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

// Checks the rows of all replicas, which the caller passed, or on which the processes of a group agreed.
absl::Status CheckReplicaRows(const Executable& executable, const std::vector<int64_t>& rows) {
  if (static_cast<int>(rows.size()) != executable.num_replicas()) {
    return absl::InvalidArgumentError(absl::StrCat("rows of ", rows.size(), " replicas; the program has ",
                                                   executable.num_replicas(), " on all processes together"));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] >= 0 && rows[r] <= executable.rows_per_replica()) continue;
    return absl::InvalidArgumentError(absl::StrCat("replica ", r, " is said to have ", rows[r],
                                                   " rows; the program takes at most ", executable.rows_per_replica()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveStepInputs(const Executable& executable, const StepInputs& step,
                               std::vector<ReplicaInputs>* replicas, int first_replica, int processes) {
  const format::Index& index = executable.index();
  replicas->resize(executable.num_replicas() / processes);
  if (step.inputs.size() != replicas->size()) {
    return absl::InvalidArgumentError(absl::StrCat("inputs for ", step.inputs.size(), " replicas; the program has ",
                                                   replicas->size(), processes > 1 ? " on this process" : ""));
  }
  const std::vector<int64_t>& all_rows = step.replica_rows;
  if (processes > 1 || !all_rows.empty()) TD_RETURN_IF_ERROR(CheckReplicaRows(executable, all_rows));
  int64_t total = 0;
  for (size_t r = 0; r < all_rows.size(); ++r) total += r < first_replica ? all_rows[r] : 0;
  for (size_t r = 0; r < replicas->size(); ++r) {
    ReplicaInputs& replica = (*replicas)[r];
    replica.inputs.resize(index.inputs.size());
    replica.scalars.resize(index.scalars.size());
    TD_RETURN_IF_ERROR(ResolveReplica(executable, step.inputs[r], r, replica));
    if (index.inputs.empty() && !all_rows.empty()) replica.rows = all_rows[first_replica + r];
    if (!all_rows.empty() && replica.rows != all_rows[first_replica + r]) {
      return absl::InvalidArgumentError(absl::StrCat("replica ", first_replica + r, " has ", replica.rows,
                                                     " rows, and the processes agreed on ",
                                                     all_rows[first_replica + r]));
    }
    replica.first_row = total;
    total += replica.rows;
  }
  if (!all_rows.empty()) total = std::accumulate(all_rows.begin(), all_rows.end(), int64_t{0});
  for (size_t i = 0; i < index.scalars.size(); ++i) {
    const format::Scalar& s = index.scalars[i];
    const absl::string_view name = s.name;  // a string_view compares lengths first, which is faster
    for (size_t r = 0; r < replicas->size(); ++r) {
      ReplicaInputs& replica = (*replicas)[r];
      ScalarValue value;
      if (name == "example_count") {
        value = total;
      } else if (name == "replica_example_count") {
        value = replica.rows;
      } else if (name == "replica_index") {
        value = first_replica + static_cast<int64_t>(r);
      } else {
        auto found = step.scalars.find(s.name);
        if (found == step.scalars.end()) {
          return absl::InvalidArgumentError(absl::StrCat("the step needs a value for scalar '", s.name, "'"));
        }
        value = found->second;
      }
      if (!ToBits(s.dtype, value, &replica.scalars[i])) {
        return absl::InvalidArgumentError(absl::StrCat("scalar '", s.name, "' is ", static_cast<double>(value),
                                                       ", which ", Name(s.dtype), " cannot hold"));
      }
    }
  }
  return absl::OkStatus();
}

std::vector<int> OutputsBeforeCheck(const Executable& executable, const std::vector<int>& fetches) {
  const format::Index& index = executable.index();
  std::set<uint32_t> written;
  for (const auto& command : CommandsInOrder(index.programs[index.replicas[0].program])) {
    if (!command->may_end_step()) {
      const std::vector<uint32_t> writes = command->Writes();
      written.insert(writes.begin(), writes.end());
      continue;
    }
    std::vector<int> known;
    for (int f : fetches) {
      if (written.count(index.outputs[f].buffer) > 0) known.push_back(f);
    }
    return known;
  }
  return fetches;
}

absl::Status CheckVariablesInitialized(const Executable& executable, const VariableStore& variables) {
  for (const auto& v : executable.index().variables) {
    TD_ASSIGN_OR_RETURN(VariableInfo info, variables.Info(v.name));
    if (!info.initialized) {
      return absl::FailedPreconditionError(
          absl::StrCat("variable ", v.name, " has no value: initialise it or restore a checkpoint"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
