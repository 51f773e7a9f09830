#include "estimator/workers/share_checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

// Long texts are sent in pieces of this size.
constexpr size_t kPieceBytes = size_t{16} << 20;
constexpr char kPositionBytes[] = "position_bytes";

Json TableOf(const TensorMap& tensors) {
  Json table = Json::array();
  for (const auto& [name, tensor] : tensors) {
    table.push_back({{"name", name}, {"dtype", static_cast<int>(tensor.dtype())}, {"shape", tensor.shape()}});
  }
  return table;
}

// Returns tensors with the names, types and shapes in the table, without values.
absl::StatusOr<TensorMap> TensorsOf(const Json& table) {
  TensorMap tensors;
  for (const Json& entry : table) {
    const auto name = entry.at("name").get<std::string>();
    const int dtype = entry.at("dtype").get<int>();
    const auto shape = entry.at("shape").get<Shape>();
    // Only types with elements of a fixed size are accepted, since values are received into the tensors' memory.
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

struct Header {
  CheckpointData data;  // the checkpoint, with tensors that have no values yet, and without the input position
  size_t position_bytes = 0;
};

absl::StatusOr<Header> FromHeader(const std::string& text) {
  // The parser throws if the text was not written by this program.
  try {
    const auto header = ParseJson(text);
    Header result;
    CheckpointData& data = result.data;
    data.global_step = header.at("global_step").get<int64_t>();
    data.seed = header.at("seed").get<uint64_t>();
    for (const auto& [key, value] : header.at("extra").items()) data.extra[key] = value.get<std::string>();
    TD_ASSIGN_OR_RETURN(data.variables, TensorsOf(header.at("variables")));
    TD_ASSIGN_OR_RETURN(data.slots, TensorsOf(header.at("slots")));
    TD_ASSIGN_OR_RETURN(data.attachments, TensorsOf(header.at("attachments")));
    const Json& bytes = header.at(kPositionBytes);
    const bool fits = bytes.is_number_unsigned() && bytes.get<uint64_t>() <= std::numeric_limits<int64_t>::max();
    if (!fits) {
      return absl::DataLossError(
          absl::StrCat("the chief's checkpoint has a position of the input of ", bytes.dump(), " bytes"));
    }
    TD_RETURN_IF_ERROR(CheckSize("the input's position in the chief's checkpoint", bytes.get<int64_t>(),
                                 std::numeric_limits<int64_t>::max()));
    result.position_bytes = bytes.get<size_t>();
    return result;
  } catch (const Json::exception& e) {
    return absl::DataLossError(std::string("the chief's checkpoint has no readable header: ") + e.what());
  }
}

// Sends the chief's text of `bytes` bytes to all workers, in pieces. A receiver allocates memory for one piece at a
// time, so a wrong length does not make it allocate all of that.
absl::Status ShareText(WorkerGroup& workers, size_t bytes, std::string& text, absl::string_view what) {
  for (size_t begin = 0; begin < bytes; begin += kPieceBytes) {
    const size_t piece = std::min(kPieceBytes, bytes - begin);
    if (!workers.is_chief()) text.resize(begin + piece);
    TD_RETURN_IF_ERROR(workers.group().Broadcast(
        absl::MakeSpan(reinterpret_cast<std::byte*>(text.data()) + begin, piece), /*root=*/0, what));
  }
  return absl::OkStatus();
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
  size_t position_bytes = 0;
  if (checkpoint.has_value()) {
    position_bytes = checkpoint->iterator_state.size();
    header = JsonString(Json{{"global_step", checkpoint->global_step},
                             {"seed", checkpoint->seed},
                             {"extra", checkpoint->extra},
                             {kPositionBytes, position_bytes},
                             {"variables", TableOf(checkpoint->variables)},
                             {"slots", TableOf(checkpoint->slots)},
                             {"attachments", TableOf(checkpoint->attachments)}});
  }
  TD_ASSIGN_OR_RETURN(header, workers.FromChief(header, "the checkpoint's header"));
  if (header.empty()) return std::optional<CheckpointData>();
  if (!workers.is_chief()) {
    TD_ASSIGN_OR_RETURN(Header told, FromHeader(header));
    checkpoint = std::move(told.data);
    position_bytes = told.position_bytes;
  }
  TD_RETURN_IF_ERROR(ShareText(workers, position_bytes, checkpoint->iterator_state, "the input's position"));
  TD_RETURN_IF_ERROR(ShareValues(workers, checkpoint->variables));
  TD_RETURN_IF_ERROR(ShareValues(workers, checkpoint->slots));
  TD_RETURN_IF_ERROR(ShareValues(workers, checkpoint->attachments));
  return checkpoint;
}

}  // namespace tandem
