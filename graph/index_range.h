// Which integers a tensor may hold because of how it is used.
#ifndef TANDEM_GRAPH_INDEX_RANGE_H_
#define TANDEM_GRAPH_INDEX_RANGE_H_

#include <cstdint>

#include "graph/tensor.h"

namespace tandem {

// n when ops take the elements of `indices` (an input, perhaps cast or reshaped on the way) as indices 0 .. n - 1: the
// labels of a sparse cross-entropy, the rows of a gather. The smallest n of several uses; 0 when there is none.
// Compiled code does not check such indices, so whoever feeds them must.
int64_t IndexRange(const Tensor& indices);

}  // namespace tandem

#endif  // TANDEM_GRAPH_INDEX_RANGE_H_
