#include "runtime/cuda/communicator/collective_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

bool Reducible(format::ReduceKind kind, DType type) {
  const bool is_float = type == DType::kFloat32 || type == DType::kFloat64;
  switch (kind) {
    case format::ReduceKind::kSum:
    case format::ReduceKind::kMax:
      return is_float || type == DType::kInt32 || type == DType::kInt64;
    case format::ReduceKind::kMean:
      return is_float;
    default:
      return false;
  }
}

absl::Status CheckLists(int replicas, absl::Span<const CollectiveTensor> tensors, size_t streams) {
  if (streams != static_cast<size_t>(replicas)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a collective of ", replicas, " replicas got ", streams, " streams"));
  }
  for (const CollectiveTensor& t : tensors) {
    if (t.buffers.size() != static_cast<size_t>(replicas)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a collective of ", replicas, " replicas got a tensor with ", t.buffers.size(), " buffers"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAllReduce(int local, int all, format::ReduceKind kind, absl::Span<const CollectiveTensor> tensors,
                            const std::vector<bool>& present, size_t streams) {
  TD_RETURN_IF_ERROR(CheckLists(local, tensors, streams));
  if (present.size() != static_cast<size_t>(all) || std::count(present.begin(), present.end(), true) == 0) {
    return absl::InvalidArgumentError("an all-reduce needs a replica that has rows");
  }
  for (const CollectiveTensor& t : tensors) {
    if (!Reducible(kind, t.dtype)) {
      return absl::InvalidArgumentError(
          absl::StrCat("an all-reduce cannot compute the ", format::Name(kind), " of ", Name(t.dtype), " on GPUs"));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
