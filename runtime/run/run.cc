#include "runtime/run/run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/processors.h"
#include "base/status_macros.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

absl::Status CheckInput(const format::Input& input, const HostTensor& value, int64_t rows) {
  const DType dtype = input.dtype;
  Shape wanted = input.shape;
  wanted[0] = rows;
  if (value.dtype() == dtype && value.shape() == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input \"", input.name, "\" is ", std::string(Name(value.dtype())),
                                                 ShapeString(value.shape()), ", the program needs ",
                                                 std::string(Name(dtype)), ShapeString(input.shape),
                                                 " with as many rows in every input (here b = ", rows, ")"));
}

// Returns an error that names the first element that is not in [0, `indices`).
template <typename T>
absl::Status CheckElements(const format::Input& input, const HostTensor& value) {
  const T* elements = value.data<T>();
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    if (elements[i] >= 0 && static_cast<uint64_t>(elements[i]) < input.indices) continue;
    const int64_t row = i / (value.num_elements() / value.shape()[0]);
    return absl::OutOfRangeError(absl::StrCat("input \"", input.name, "\" has ", static_cast<int64_t>(elements[i]),
                                              " in row ", row, "; the program takes it as an index, 0 to ",
                                              input.indices - 1));
  }
  return absl::OkStatus();
}

HostTensor Rows(const HostTensor& batch, int64_t begin, int64_t count) {
  if (count == batch.shape()[0]) return batch;
  Shape shape = batch.shape();
  const int64_t row_bytes = shape[0] ? batch.byte_size() / shape[0] : 0;
  shape[0] = count;
  HostTensor rows(batch.dtype(), std::move(shape));
  if (rows.byte_size() > 0) {
    std::memcpy(rows.raw(), static_cast<const char*>(batch.raw()) + begin * row_bytes, rows.byte_size());
  }
  return rows;
}

}  // namespace

absl::Status CheckIndices(const format::Input& input, const HostTensor& value) {
  if (input.indices == 0) return absl::OkStatus();
  switch (value.dtype()) {
    case DType::kInt32:
      return CheckElements<int32_t>(input, value);
    case DType::kInt64:
      return CheckElements<int64_t>(input, value);
    case DType::kUInt8:
      return CheckElements<uint8_t>(input, value);
    default:
      return absl::OkStatus();
  }
}

std::vector<int64_t> LoadedExecutable::RowsOfReplicas(int64_t rows) const {
  std::vector<int64_t> result;
  for (int r = 0; r < executable_->num_replicas(); ++r) {
    result.push_back(std::min(rows, executable_->rows_per_replica()));
    rows -= result.back();
  }
  return result;
}

absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadExecutable(const std::string& path, const LoadOptions& options) {
  auto model = std::unique_ptr<LoadedExecutable>(new LoadedExecutable());
  TD_ASSIGN_OR_RETURN(model->executable_, Executable::Load(path));
  model->variables_ = std::make_shared<VariableStore>(model->executable_->num_replicas());
  TD_ASSIGN_OR_RETURN(auto pool, ThreadPool::Create(options.threads > 0 ? options.threads : UsableProcessors()));
  TD_ASSIGN_OR_RETURN(model->session_, CreateSession(model->executable_, model->variables_, {.pool = pool}));
  if (!options.initialize_variables) return model;
  for (const auto& v : model->executable_->index().variables) {
    TD_RETURN_IF_ERROR(model->variables_->Initialize(v.name, v.initializer, options.seed));
  }
  return model;
}

absl::StatusOr<RunResult> Run(LoadedExecutable& model, const std::map<std::string, HostTensor>& inputs,
                              const StepScalars& scalars) {
  const format::Index& index = model.executable().index();
  std::vector<std::string> names;
  for (const auto& input : index.inputs) names.push_back(input.name);
  for (const auto& [name, value] : inputs) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the program has no input \"", name, "\"; its inputs are: ", absl::StrJoin(names, ", ")));
  }
  int64_t rows = -1;
  for (const auto& input : index.inputs) {
    auto it = inputs.find(input.name);
    if (it == inputs.end()) return absl::InvalidArgumentError(absl::StrCat("no input \"", input.name, "\" was given"));
    if (rows < 0 && it->second.rank() > 0) rows = it->second.shape()[0];
    TD_RETURN_IF_ERROR(CheckInput(input, it->second, rows));
    TD_RETURN_IF_ERROR(CheckIndices(input, it->second));
  }
  if (rows > model.max_rows()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the inputs have ", rows, " rows, the program takes ", model.max_rows(), " at most"));
  }
  StepInputs step;
  int64_t begin = 0;
  for (int64_t count : model.RowsOfReplicas(std::max<int64_t>(rows, 0))) {
    std::vector<HostTensor> of_replica;
    for (const std::string& name : names) of_replica.push_back(Rows(inputs.at(name), begin, count));
    step.inputs.push_back(std::move(of_replica));
    begin += count;
  }
  step.scalars = {{"global_step", 0}, {"seed", 0}};
  for (const auto& [name, value] : scalars) step.scalars[name] = value;
  std::vector<int> fetches;
  for (size_t i = 0; i < index.outputs.size(); ++i) fetches.push_back(static_cast<int>(i));
  TD_ASSIGN_OR_RETURN(StepResult done, model.session().Run(step, fetches));
  RunResult result;
  result.finite = done.finite;
  for (size_t i = 0; done.finite && i < index.outputs.size(); ++i) {
    result.outputs[index.outputs[i].name] = std::move(done.outputs[i]);
  }
  return result;
}

}  // namespace tandem
