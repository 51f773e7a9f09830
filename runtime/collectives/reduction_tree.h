// The one order in which partial results are combined: a complete binary tree over leaf ids.
//
//   Tree(first, size) = leaf `first` when size is 1, else Tree(first, size / 2) op Tree(first + size / 2, size / 2);
//   an absent operand passes the other through, and the root's size is the number of leaves rounded up to a power of
//   two.
//
// Leaves are a device's lanes (parts of its batch), then the devices. When every device has the same power of two of
// lanes, the tree over devices of the trees over their lanes is the tree over all lanes: results do not depend on how
// lanes are distributed.
#ifndef TANDEM_RUNTIME_COLLECTIVES_REDUCTION_TREE_H_
#define TANDEM_RUNTIME_COLLECTIVES_REDUCTION_TREE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/dtype.h"
#include "runtime/format/index.h"

namespace tandem {

// Sets out[i] = tree over leaves[l][i] for i in [0, n); a null leaf is absent. With no leaf at all `out` gets the
// identity: 0, or the lowest value for Max. `out` may be one of the leaves, and no other overlap is allowed. `kind` is
// Sum, Max (which keeps NaN) or Mean: the sum divided by the number of leaves present. dtype: float32, float64, int32,
// int64, or bfloat16, whose sums are rounded at every node.
void TreeReduce(format::ReduceKind kind, DType dtype, absl::Span<const void* const> leaves, void* out, int64_t n);

// Sets a = a op b for n elements. Microbatches of a lane are added up with it.
void Combine(format::ReduceKind kind, DType dtype, void* a, const void* b, int64_t n);

// Divides the n values by `divisor`, which makes a sum of all leaves their mean.
void Divide(DType dtype, void* values, int64_t divisor, int64_t n);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_REDUCTION_TREE_H_
