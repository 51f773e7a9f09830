#include "estimator/workers/share_checkpoint.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

Json TableOf(const TensorMap& tensors) {
  Json table = Json::array();
  for (const auto& [name, tensor] : tensors) {
    table.push_back({{"name", name}, {"dtype", static_cast<int>(tensor.dtype())}, {"shape", tensor.shape()}});
  }
  return table;
}

// Tensors without values, as the table has them.
absl::StatusOr<TensorMap> TensorsOf(const Json& table) {
  TensorMap tensors;
  for (const Json& entry : table) {
    const auto name = entry.at("name").get<std::string>();
    const int dtype = entry.at("dtype").get<int>();
    const auto shape = entry.at("shape").get<Shape>();
    // Of a fixed size each: the values are bytes that are read in place.
    const bool has_size = dtype > static_cast<int>(DType::kInvalid) && dtype < static_cast<int>(DType::kString);
    HostTensor tensor = has_size ? HostTensor(static_cast<DType>(dtype), shape) : HostTensor();
    if (tensor.empty()) {
      return absl::DataLossError(absl::StrCat("the chief's checkpoint has \"", PrintableLine(name), "\" of type ",
                                              dtype, " and shape ", ShapeString(shape),
                                              ", and there are no such tensors"));
    }
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

absl::StatusOr<CheckpointData> FromHeader(const std::string& text) {
  // The parser's exceptions are for what is not of this program's making.
  try {
    const auto header = ParseJson(text);
    CheckpointData data;
    data.global_step = header.at("global_step").get<int64_t>();
    data.seed = header.at("seed").get<uint64_t>();
    for (const auto& [key, value] : header.at("extra").items()) data.extra[key] = value.get<std::string>();
    TD_ASSIGN_OR_RETURN(data.variables, TensorsOf(header.at("variables")));
    TD_ASSIGN_OR_RETURN(data.slots, TensorsOf(header.at("slots")));
    return data;
  } catch (const Json::exception& e) {
    return absl::DataLossError(std::string("the chief's checkpoint has no readable header: ") + e.what());
  }
}

absl::Status ShareValues(WorkerGroup& workers, TensorMap& tensors) {
  for (auto& [name, tensor] : tensors) {
    TD_RETURN_IF_ERROR(workers.group().Broadcast(
        absl::MakeSpan(static_cast<std::byte*>(tensor.raw()), tensor.byte_size()), /*root=*/0, name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<CheckpointData>> ShareCheckpoint(WorkerGroup& workers,
                                                              std::optional<CheckpointData> checkpoint) {
  std::string header;
  if (checkpoint.has_value()) {
    header = JsonString(Json{{"global_step", checkpoint->global_step},
                             {"seed", checkpoint->seed},
                             {"extra", checkpoint->extra},
                             {"variables", TableOf(checkpoint->variables)},
                             {"slots", TableOf(checkpoint->slots)}});
  }
  TD_ASSIGN_OR_RETURN(header, workers.FromChief(header, "the checkpoint's header"));
  if (header.empty()) return std::optional<CheckpointData>();
  if (!workers.is_chief()) {
    TD_ASSIGN_OR_RETURN(CheckpointData data, FromHeader(header));
    checkpoint = std::move(data);
  }
  TD_ASSIGN_OR_RETURN(checkpoint->iterator_state,
                      workers.FromChief(checkpoint->iterator_state, "the input's position"));
  TD_RETURN_IF_ERROR(ShareValues(workers, checkpoint->variables));
  TD_RETURN_IF_ERROR(ShareValues(workers, checkpoint->slots));
  return checkpoint;
}

}  // namespace tandem
