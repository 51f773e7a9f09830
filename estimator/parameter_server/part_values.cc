#include "estimator/parameter_server/part_values.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/host_tensor.h"
#include "base/status_macros.h"
#include "estimator/parameter_server/rows.h"

namespace tandem {
namespace {

// A part of a variable, and the form of its values in an answer.
struct Arrival {
  const PlacedPart* part;
  PartMemory memory;
  RowLayout layout;
  std::optional<int64_t> count;  // number of rows that are sent; not set: all rows, as one tensor

  size_t bytes() const { return count.has_value() ? layout.packed_bytes(*count) : static_cast<size_t>(memory.bytes); }
};

absl::StatusOr<std::vector<Arrival>> ArrivalsOf(const std::vector<PlacedPart>& parts,
                                                const google::protobuf::RepeatedPtrField<parameters::Rows>& rows,
                                                const VariableStore& store) {
  std::vector<Arrival> arrivals;
  for (const PlacedPart& part : parts) {
    TD_ASSIGN_OR_RETURN(PartMemory memory, MemoryOf(part, store));
    const RowLayout layout = RowLayoutOf(memory.dtype, memory.shape);
    arrivals.push_back({.part = &part, .memory = std::move(memory), .layout = layout, .count = std::nullopt});
  }
  for (const parameters::Rows& head : rows) {
    if (head.tensor() < 0 || head.tensor() >= static_cast<int64_t>(arrivals.size())) {
      return absl::InternalError(
          absl::StrCat("a server sent rows of its value ", head.tensor(), ", and there are ", arrivals.size()));
    }
    Arrival& arrival = arrivals[head.tensor()];
    if (arrival.count.has_value() || head.count() < 0 || head.count() > arrival.layout.rows) {
      return absl::InternalError(absl::StrCat("a server sent ", head.count(), " rows of ", arrival.part->name(),
                                              arrival.count.has_value() ? " a second time" : ""));
    }
    arrival.count = head.count();
  }
  return arrivals;
}

absl::Status WriteRows(const Arrival& arrival, FrameReader& tensors, VariableStore& store) {
  const int64_t row_bytes = arrival.layout.row_bytes;
  const auto copy_of = [&](int device) {
    return static_cast<char*>(store.Buffer(arrival.part->variable, device)) + arrival.memory.offset;
  };
  RowNumbers numbers;
  TD_RETURN_IF_ERROR(UnpackRows(tensors, arrival.layout, *arrival.count, copy_of(0), &numbers));
  for (int device = 1; device < store.num_devices(); ++device) {
    for (const uint32_t row : numbers) {
      std::memcpy(copy_of(device) + row * row_bytes, copy_of(0) + row * row_bytes, row_bytes);
    }
  }
  return absl::OkStatus();
}

void WriteWhole(const Arrival& arrival, FrameReader& tensors, VariableStore& store) {
  const auto copy_of = [&](int device) {
    return static_cast<char*>(store.Buffer(arrival.part->variable, device)) + arrival.memory.offset;
  };
  tensors.Read(copy_of(0), arrival.memory.bytes);
  for (int device = 1; device < store.num_devices(); ++device) {
    std::memcpy(copy_of(device), copy_of(0), arrival.memory.bytes);
  }
}

}  // namespace

absl::StatusOr<PartMemory> MemoryOf(const PlacedPart& part, const VariableStore& store) {
  TD_ASSIGN_OR_RETURN(const VariableInfo info, store.Info(part.variable));
  PartMemory memory{.dtype = info.dtype};
  if (!part.whole()) {
    if (info.shape.empty() || part.first_row < 0 || part.first_row + part.rows > info.shape[0]) {
      return absl::InternalError(absl::StrCat("there is no ", part.name(), " of ", ShapeString(info.shape)));
    }
    const int64_t row = NumElements(absl::MakeConstSpan(info.shape).subspan(1)) * SizeOf(info.dtype);
    memory.offset = part.first_row * row;
  }
  memory.shape = part.ShapeOf(info.shape);
  memory.bytes = NumElements(memory.shape) * SizeOf(info.dtype);
  return memory;
}

absl::Status WriteParts(const std::vector<PlacedPart>& parts,
                        const google::protobuf::RepeatedPtrField<parameters::Rows>& rows, FrameReader& tensors,
                        VariableStore& store) {
  TD_ASSIGN_OR_RETURN(const std::vector<Arrival> arrivals, ArrivalsOf(parts, rows, store));
  size_t bytes = 0;
  for (const Arrival& arrival : arrivals) bytes += arrival.bytes();
  if (bytes != tensors.left()) {
    return absl::InternalError(absl::StrCat("a server sent ", tensors.left(), " bytes of values in place of ", bytes));
  }
  for (const Arrival& arrival : arrivals) {
    TD_ASSIGN_OR_RETURN(const VariableInfo info, store.Info(arrival.part->variable));
    if (!info.initialized) TD_RETURN_IF_ERROR(store.Assign(info.name, HostTensor::Zeros(info.dtype, info.shape)));
    if (arrival.count.has_value()) {
      TD_RETURN_IF_ERROR(WriteRows(arrival, tensors, store));
    } else {
      WriteWhole(arrival, tensors, store);
    }
  }
  store.NoteWrites();
  return absl::OkStatus();
}

}  // namespace tandem
