// Finds the integers that a tensor may hold, from its uses as indices.
#ifndef TANDEM_GRAPH_INDEX_RANGE_H_
#define TANDEM_GRAPH_INDEX_RANGE_H_

#include <cstdint>

#include "graph/tensor.h"

namespace tandem {

// How ops use the elements of `indices` (an input, perhaps cast or reshaped on the way): as the labels of a sparse
// cross-entropy, or as the rows of a gather. If there are several uses, this is the smallest range. Compiled code does
// not check such indices, so the code that feeds them must.
struct IndexRange {
  int64_t size = 0;    // indices are 0 .. size - 1; 0: no op uses them as indices
  bool table = false;  // the indices are rows of a table; false: they are classes
};
IndexRange IndexRangeOf(const Tensor& indices);

}  // namespace tandem

#endif  // TANDEM_GRAPH_INDEX_RANGE_H_
