// The functions of tandem_c.h about checkpoints.
#include <memory>
#include <string>
#include <utility>

#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/c/status.h"
#include "estimator/c/tensors.h"
#include "estimator/checkpoint/checkpoint_reader.h"

struct tandem_checkpoint {
  std::unique_ptr<tandem::CheckpointReader> reader;
};

extern "C" {

tandem_status* tandem_checkpoint_open(const char* path, tandem_checkpoint** checkpoint) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "path", path));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "checkpoint", checkpoint));
    TD_ASSIGN_OR_RETURN(std::unique_ptr<tandem::CheckpointReader> reader,
                        tandem::CheckpointReader::Open(tandem::Env::Default(), path));
    *checkpoint = new tandem_checkpoint{std::move(reader)};
    return absl::OkStatus();
  });
}

void tandem_checkpoint_free(tandem_checkpoint* checkpoint) { delete checkpoint; }

const char* tandem_checkpoint_path(const tandem_checkpoint* checkpoint) {
  return checkpoint == nullptr ? "" : checkpoint->reader->path().c_str();
}

int64_t tandem_checkpoint_global_step(const tandem_checkpoint* checkpoint) {
  return checkpoint == nullptr ? -1 : checkpoint->reader->global_step().value_or(-1);
}

size_t tandem_checkpoint_size(const tandem_checkpoint* checkpoint) {
  return checkpoint == nullptr ? 0 : checkpoint->reader->variables().size() + checkpoint->reader->slots().size();
}

tandem_status* tandem_checkpoint_get(const tandem_checkpoint* checkpoint, size_t index, tandem_tensor* description,
                                     int32_t* is_slot) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "checkpoint", checkpoint));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "description", description));
    TD_RETURN_IF_ERROR(tandem::c::CheckIndex(function, "tensors", index, tandem_checkpoint_size(checkpoint)));
    const auto& variables = checkpoint->reader->variables();
    const bool slot = index >= variables.size();
    const tandem::SavedTensor& tensor = slot ? checkpoint->reader->slots()[index - variables.size()] : variables[index];
    *description = tandem::c::Describe(tensor.name, tensor.dtype, tensor.shape);
    if (is_slot != nullptr) *is_slot = slot ? 1 : 0;
    return absl::OkStatus();
  });
}

tandem_status* tandem_checkpoint_read(const tandem_checkpoint* checkpoint, const char* name, tandem_tensors** tensors) {
  return tandem::c::Guarded(__func__, [&, function = __func__]() -> absl::Status {
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "checkpoint", checkpoint));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "name", name));
    TD_RETURN_IF_ERROR(tandem::c::CheckNotNull(function, "tensors", tensors));
    TD_ASSIGN_OR_RETURN(tandem::HostTensor value, checkpoint->reader->Read(name));
    tandem::NamedTensors named;
    named[name] = std::move(value);
    *tensors = tandem::c::TensorsHandle(std::move(named));
    return absl::OkStatus();
  });
}

}  // extern "C"
