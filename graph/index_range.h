// Which integers a tensor may hold because of how it is used.
#ifndef TANDEM_GRAPH_INDEX_RANGE_H_
#define TANDEM_GRAPH_INDEX_RANGE_H_

#include <cstdint>

#include "graph/tensor.h"

namespace tandem {

// How ops use the elements of `indices` (an input, perhaps cast or reshaped on the way): the labels of a sparse
// cross-entropy, the rows of a gather. The smallest range of several uses.
// Compiled code does not check such indices, so whoever feeds them must.
struct IndexRange {
  int64_t size = 0;    // indices are 0 .. size - 1; 0: nothing takes them as indices
  bool table = false;  // they are rows of a table rather than classes
};
IndexRange IndexRangeOf(const Tensor& indices);

}  // namespace tandem

#endif  // TANDEM_GRAPH_INDEX_RANGE_H_
