// The functions of tandem_c.h about models.
#include "estimator/serving/model.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/c/status.h"
#include "estimator/c/tensors.h"

struct tandem_model {
  std::unique_ptr<tandem::Model> model;
};

namespace tandem::c {
namespace {

// Returns the options that the caller's library has; fields that it lacks have their defaults.
absl::StatusOr<LoadModelOptions> ToOptions(const char* function, const tandem_load_options* options) {
  if (options == nullptr) return LoadModelOptions();
  tandem_load_options known = {};
  if (options->struct_size < sizeof(size_t) || options->struct_size > 4096) {
    return absl::InvalidArgumentError(absl::StrCat(function, ": options->struct_size is ", options->struct_size,
                                                   "; set it to sizeof(tandem_load_options)"));
  }
  std::memcpy(&known, options, std::min(options->struct_size, sizeof known));
  return LoadModelOptions{.threads = known.threads, .calls = known.calls, .use_moving_average = known.raw_weights == 0};
}

absl::Status DescribeOne(const char* function, const char* what, const std::vector<TensorSignature>& tensors,
                         size_t index, tandem_tensor* description) {
  TD_RETURN_IF_ERROR(CheckNotNull(function, "description", description));
  TD_RETURN_IF_ERROR(CheckIndex(function, what, index, tensors.size()));
  const TensorSignature& tensor = tensors[index];
  *description = Describe(tensor.name, tensor.dtype, tensor.shape);
  return absl::OkStatus();
}

absl::StatusOr<NamedTensors> Predict(const char* function, tandem_model* model, const tandem_tensor* inputs,
                                     size_t num_inputs) {
  TD_RETURN_IF_ERROR(CheckNotNull(function, "model", model));
  if (num_inputs > 0) TD_RETURN_IF_ERROR(CheckNotNull(function, "inputs", inputs));
  NamedTensors named;
  for (size_t i = 0; i < num_inputs; ++i) {
    TD_ASSIGN_OR_RETURN(HostTensor value, ToHostTensor(function, inputs[i]));
    if (named.emplace(inputs[i].name, std::move(value)).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(function, ": input \"", PrintableLine(inputs[i].name), "\" is there twice"));
  }
  return model->model->Predict(named);
}

// Returns an error unless the buffer has the type and size of the output that it names.
absl::Status CheckBuffer(const char* function, const tandem_buffer& buffer, const NamedTensors& outputs) {
  TD_RETURN_IF_ERROR(CheckNotNull(function, "the name of an output", buffer.name));
  const std::string where = absl::StrCat(function, ": output \"", PrintableLine(buffer.name), "\" ");
  const auto found = outputs.find(buffer.name);
  if (found == outputs.end()) return absl::InvalidArgumentError(where + "is none of the model's");
  const HostTensor& value = found->second;
  if (buffer.dtype == static_cast<int32_t>(value.dtype()) && buffer.bytes == value.byte_size() &&
      (buffer.bytes == 0 || buffer.data != nullptr)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(where, "is ", Name(value.dtype()), ShapeString(value.shape()), " of ",
                                                 value.byte_size(), " bytes, and the buffer has ", buffer.bytes,
                                                 " bytes of ", tandem_dtype_name(buffer.dtype),
                                                 buffer.data == nullptr ? " at NULL" : ""));
}

}  // namespace
}  // namespace tandem::c

extern "C" {

tandem_status* tandem_load(const char* path, const tandem_load_options* options, tandem_model** model) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "path", path));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "model", model));
    TD_ASSIGN_OR_RETURN(const tandem::LoadModelOptions known, tandem::c::ToOptions(function, options));
    TD_ASSIGN_OR_RETURN(std::unique_ptr<tandem::Model> loaded, tandem::LoadModel(path, known));
    *model = new tandem_model{std::move(loaded)};
    return absl::OkStatus();
  });
}

void tandem_model_free(tandem_model* model) { delete model; }

size_t tandem_model_num_inputs(const tandem_model* model) {
  return model == nullptr ? 0 : model->model->inputs().size();
}

tandem_status* tandem_model_input(const tandem_model* model, size_t index, tandem_tensor* description) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "model", model));
    return tandem::c::DescribeOne(function, "inputs", model->model->inputs(), index, description);
  });
}

size_t tandem_model_num_outputs(const tandem_model* model) {
  return model == nullptr ? 0 : model->model->outputs().size();
}

tandem_status* tandem_model_output(const tandem_model* model, size_t index, tandem_tensor* description) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "model", model));
    return tandem::c::DescribeOne(function, "outputs", model->model->outputs(), index, description);
  });
}

int64_t tandem_model_global_step(const tandem_model* model) {
  return model == nullptr ? 0 : model->model->global_step();
}

const char* tandem_model_path(const tandem_model* model) {
  return model == nullptr ? "" : model->model->path().c_str();
}

size_t tandem_model_num_metrics(const tandem_model* model) {
  return model == nullptr ? 0 : model->model->metrics().size();
}

tandem_status* tandem_model_metric(const tandem_model* model, size_t index, const char** name, double* value) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "model", model));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "name", name));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "value", value));
    TD_RETURN_IF_ERROR(tandem::c::CheckIndex(function, "metrics", index, tandem_model_num_metrics(model)));
    const auto metric = std::next(model->model->metrics().begin(), static_cast<int64_t>(index));
    *name = metric->first.c_str();
    *value = metric->second;
    return absl::OkStatus();
  });
}

tandem_status* tandem_predict(tandem_model* model, const tandem_tensor* inputs, size_t num_inputs,
                              tandem_tensors** outputs) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "outputs", outputs));
    TD_ASSIGN_OR_RETURN(tandem::NamedTensors results, tandem::c::Predict(function, model, inputs, num_inputs));
    *outputs = tandem::c::TensorsHandle(std::move(results));
    return absl::OkStatus();
  });
}

tandem_status* tandem_predict_into(tandem_model* model, const tandem_tensor* inputs, size_t num_inputs,
                                   const tandem_buffer* outputs, size_t num_outputs) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    if (num_outputs > 0) TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "outputs", outputs));
    TD_ASSIGN_OR_RETURN(const tandem::NamedTensors results, tandem::c::Predict(function, model, inputs, num_inputs));
    for (size_t i = 0; i < num_outputs; ++i) {
      TD_RETURN_IF_ERROR(tandem::c::CheckBuffer(function, outputs[i], results));
    }
    for (size_t i = 0; i < num_outputs; ++i) {
      if (outputs[i].bytes > 0) std::memcpy(outputs[i].data, results.at(outputs[i].name).raw(), outputs[i].bytes);
    }
    return absl::OkStatus();
  });
}

}  // extern "C"
