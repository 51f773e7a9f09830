// Copies the part of a tensor that another one has too.
#ifndef TANDEM_ESTIMATOR_WARM_START_COPY_OVERLAP_H_
#define TANDEM_ESTIMATOR_WARM_START_COPY_OVERLAP_H_

#include <optional>
#include <vector>

#include "base/host_tensor.h"
#include "estimator/warm_start/vocabulary.h"

namespace tandem {

// Rows of one dimension that belong together.
struct RowsOfAxis {
  int axis = 0;
  std::vector<MatchedRow> rows;  // within both shapes
};

// In every dimension the first indices, as many as both tensors have; in `rows->axis` those of `rows` instead. Both
// tensors have the same type and rank, and `to` is the only holder of its buffer.
void CopyOverlap(const HostTensor& from, HostTensor* to, const std::optional<RowsOfAxis>& rows = std::nullopt);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WARM_START_COPY_OVERLAP_H_
