// CopyOverlap: copies the part of a tensor that fits into another one.
#ifndef TANDEM_ESTIMATOR_WARM_START_COPY_OVERLAP_H_
#define TANDEM_ESTIMATOR_WARM_START_COPY_OVERLAP_H_

#include <optional>
#include <vector>

#include "base/host_tensor.h"
#include "estimator/warm_start/vocabulary.h"

namespace tandem {

// Pairs of indices of one dimension, in the two tensors, whose elements belong together.
struct RowsOfAxis {
  int axis = 0;
  std::vector<MatchedRow> rows;  // pairs of indices, which must lie within both shapes
};

// Copies, in every dimension, the first indices, as many as both tensors have; in dimension `rows->axis` copies those
// of `rows` instead. Both tensors must have the same type and rank, and `to` must be the only holder of its buffer.
void CopyOverlap(const HostTensor& from, HostTensor* to, const std::optional<RowsOfAxis>& rows = std::nullopt);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_COPY_OVERLAP_H_
