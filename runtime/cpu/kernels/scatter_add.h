// Sums of rows by index: the gradient of an embedding.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_SCATTER_ADD_H_
#define TANDEM_RUNTIME_CPU_KERNELS_SCATTER_ADD_H_

#include <cstdint>

#include "base/dtype.h"

namespace tandem {

// Rows to add, and the indices of the rows that they are added to, in the order of the batch: lane l (a part of the
// batch) has positions [l * lane_count, (l + 1) * lane_count).
struct ScatterSource {
  const void* updates = nullptr;  // [count, width] of dtype, float32 or float64
  const void* indices = nullptr;  // [count] of index_dtype, int32 or int64
  DType dtype = DType::kFloat32;
  DType index_dtype = DType::kInt32;
  int64_t count = 0;
  int64_t width = 0;
  int64_t lane_count = INT64_MAX;  // number of positions of one lane
  int64_t lanes = 1;
};

// Writes rows [begin, end) of `table` ([n, width]): row k becomes the sum of the updates with index k. A lane's updates
// are added to 0 in order, then the lanes' sums are combined in the order of the reduction tree
// (runtime/collectives/reduction_tree.h): the same bits as if every lane had a table of its own, which is never made.
// Time grows with the number of indices, plus the elements that are written and added. Allocates no memory once a
// thread has seen the largest source.
void ScatterAddRows(const ScatterSource& source, int64_t begin, int64_t end, void* table);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_SCATTER_ADD_H_
