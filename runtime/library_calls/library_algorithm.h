// How a CPU computes a library call. The compiler chooses (passes/contraction), executables say what was chosen, and
// the loader checks that it can be done.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_LIBRARY_ALGORITHM_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_LIBRARY_ALGORITHM_H_

#include "absl/status/status.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns OK if `call.algorithm` computes calls like this one, which CheckLibraryCall has accepted. InvalidArgument
// names the operation that it does not compute.
absl::Status CheckAlgorithm(const format::LibraryCall& call);

// Returns the call by which Algorithm::DensePointwise computes the gradient of a convolution for which
// IsStridedPointwise is true: the same gradient of its dense convolution (library_calls/conv2d.h). A filter gradient is
// computed as a matrix product.
format::LibraryCall DensePointwiseCall(const format::Conv2D& conv);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_LIBRARY_ALGORITHM_H_
