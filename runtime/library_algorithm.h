// How a CPU computes a library call. The compiler chooses (passes/contraction), executables say what was chosen, and
// the loader checks that it can be done.
#ifndef TANDEM_RUNTIME_LIBRARY_ALGORITHM_H_
#define TANDEM_RUNTIME_LIBRARY_ALGORITHM_H_

#include "absl/status/status.h"
#include "runtime/executable_generated.h"

namespace tandem {

// Whether `call.algorithm` computes calls like this one, which CheckLibraryCall has accepted. InvalidArgument says what
// it does not compute.
absl::Status CheckAlgorithm(const fb::LibraryCallT& call);

// Whether the call is of a 1x1 convolution without padding in front and with a stride, whose gradients are those of a
// dense convolution over the pixels that the stride reaches.
bool IsStridedPointwise(const fb::LibraryCallT& call);
// That convolution: its x is [n, height of y, width of y, in], and its filter gradient a product.
fb::LibraryCallT DensePointwise(const fb::LibraryCallT& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_ALGORITHM_H_
