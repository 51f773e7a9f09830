#include "estimator/serving/served_program.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/loop/round_seed.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"
#include "runtime/run/run.h"

namespace tandem {
namespace {

int64_t RowBytes(const HostTensor& batch) { return batch.shape()[0] == 0 ? 0 : batch.byte_size() / batch.shape()[0]; }

// Returns rows [begin, end) of a batch.
HostTensor Rows(const HostTensor& batch, int64_t begin, int64_t end) {
  Shape shape = batch.shape();
  if (begin == 0 && end == shape[0]) return batch;
  shape[0] = end - begin;
  HostTensor part(batch.dtype(), std::move(shape));
  if (part.byte_size() > 0) {
    std::memcpy(part.raw(), static_cast<const char*>(batch.raw()) + begin * RowBytes(batch), part.byte_size());
  }
  return part;
}

std::string TypesOf(const std::vector<TensorSignature>& tensors) {
  return absl::StrJoin(tensors, ", ", [](std::string* out, const TensorSignature& t) {
    absl::StrAppend(out, PrintableLine(t.name), ":", t.TypeString());
  });
}

bool Fits(const TensorSignature& wanted, const HostTensor& value) {
  return value.dtype() == wanted.dtype && value.rank() == static_cast<int>(wanted.shape.size()) &&
         std::equal(value.shape().begin() + 1, value.shape().end(), wanted.shape.begin() + 1);
}

// Returns the index of the element with this name; -1 if there is none.
template <typename T>
int IndexOf(const std::vector<T>& named, const std::string& name) {
  const auto found = std::find_if(named.begin(), named.end(), [&](const T& t) { return t.name == name; });
  return found == named.end() ? -1 : static_cast<int>(found - named.begin());
}

// True if a tensor of the executable has the type and shape that the signature says.
template <typename T>
bool SameTensor(const TensorSignature& signature, const T& in_program) {
  return signature.dtype == in_program.dtype && signature.shape == in_program.shape;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServedProgram>> ServedProgram::Create(Parts parts, ConcurrentSessions::Options options) {
  std::unique_ptr<ServedProgram> program(new ServedProgram(std::move(parts)));
  TD_RETURN_IF_ERROR(program->Match());
  TD_ASSIGN_OR_RETURN(const DeviceClass* device_class, FindDeviceClass(DeviceClassName(program->executable())));
  TD_ASSIGN_OR_RETURN(program->sessions_, ConcurrentSessions::Create(*device_class, program->parts_.executable,
                                                                     program->parts_.variables, std::move(options)));
  return program;
}

absl::Status ServedProgram::Match() {
  const format::Index& index = executable().index();
  bool same = index.mode == "predict";
  for (const auto& input : index.inputs) {
    const int named = IndexOf(inputs(), input.name);
    same = same && named >= 0 && SameTensor(inputs()[named], input);
  }
  for (const TensorSignature& output : outputs()) {
    const int named = IndexOf(index.outputs, output.name);
    same = same && named >= 0 &&
           SameTensor(output, index.programs[index.replicas[0].program].buffers[index.outputs[named].buffer]);
    fetches_.push_back(named);
  }
  if (same) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(executable().name(), " is not the program that takes ", TypesOf(inputs()),
                                          " and predicts ", TypesOf(outputs())));
}

absl::StatusOr<NamedTensors> ServedProgram::Predict(const NamedTensors& inputs) {
  int64_t rows = 0;
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> batch, InOrder(inputs, &rows));
  const int64_t most = parts_.rows_per_replica * executable().num_replicas();
  std::vector<HostTensor> results(outputs().size());
  // A call of one step returns that step's tensors.
  for (size_t i = 0; i < results.size() && (rows == 0 || rows > most); ++i) {
    Shape shape = outputs()[i].shape;
    shape[0] = rows;
    results[i] = HostTensor(outputs()[i].dtype, std::move(shape));
  }
  int64_t step = 0;
  for (int64_t begin = 0; begin < rows; begin += most) {
    TD_RETURN_IF_ERROR(RunRows(batch, begin, std::min(begin + most, rows), step++, results));
  }
  NamedTensors named;
  for (size_t i = 0; i < results.size(); ++i) named[outputs()[i].name] = std::move(results[i]);
  return named;
}

absl::StatusOr<std::vector<HostTensor>> ServedProgram::InOrder(const NamedTensors& given, int64_t* rows) const {
  const auto takes = [&] { return absl::StrCat("; the model takes ", TypesOf(inputs())); };
  for (const auto& [name, value] : given) {
    if (IndexOf(inputs(), name) >= 0) continue;
    std::vector<std::string> names;
    for (const TensorSignature& t : inputs()) names.push_back(t.name);
    return absl::InvalidArgumentError(
        absl::StrCat("the model has no input \"", PrintableLine(name), "\"", takes(), DidYouMean(name, names)));
  }
  for (const TensorSignature& wanted : inputs()) {
    const auto it = given.find(wanted.name);
    if (it == given.end()) {
      return absl::InvalidArgumentError(absl::StrCat("no input \"", wanted.name, "\" was given", takes()));
    }
    const HostTensor& value = it->second;
    TD_RETURN_IF_ERROR(Annotate(value.status(), absl::StrCat("input \"", wanted.name, "\": ")));
    if (!Fits(wanted, value)) {
      return absl::InvalidArgumentError(absl::StrCat("input \"", wanted.name, "\" is ", Name(value.dtype()),
                                                     ShapeString(value.shape()), ", the model takes ",
                                                     wanted.TypeString(), ", b being any number of rows"));
    }
    if (&wanted == &inputs()[0]) *rows = value.shape()[0];
    if (value.shape()[0] == *rows) continue;
    return absl::InvalidArgumentError(absl::StrCat("input \"", wanted.name, "\" has ", value.shape()[0],
                                                   " rows, and \"", inputs()[0].name, "\" has ", *rows,
                                                   "; every input has a row for each example"));
  }
  std::vector<HostTensor> batch;
  for (const auto& input : executable().index().inputs) {
    batch.push_back(given.at(input.name));
    TD_RETURN_IF_ERROR(CheckIndices(input, batch.back()));
  }
  return batch;
}

absl::Status ServedProgram::RunRows(const std::vector<HostTensor>& batch, int64_t begin, int64_t end, int64_t step,
                                    std::vector<HostTensor>& outputs) {
  StepInputs inputs;
  int64_t first = begin;
  for (int replica = 0; replica < executable().num_replicas(); ++replica) {
    const int64_t last = std::min(first + parts_.rows_per_replica, end);
    std::vector<HostTensor>& of_replica = inputs.inputs.emplace_back();
    for (const HostTensor& tensor : batch) of_replica.push_back(Rows(tensor, first, last));
    if (batch.empty()) inputs.replica_rows.push_back(last - first);
    first = last;
  }
  inputs.scalars = parts_.scalars;
  inputs.scalars["seed"] = SeedOfRound(parts_.seed, step);
  TD_ASSIGN_OR_RETURN(StepResult result, sessions_->Run(inputs, fetches_));
  if (!result.finite) {
    return absl::InternalError(
        absl::StrCat(executable().name(), ": the model computed a NaN or infinity for rows ", begin, " to ", end - 1));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    HostTensor& value = result.outputs[fetches_[i]];
    if (outputs[i].empty()) {
      outputs[i] = std::move(value);
    } else if (value.byte_size() > 0) {
      std::memcpy(static_cast<char*>(outputs[i].raw()) + begin * RowBytes(value), value.raw(), value.byte_size());
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
