// Gradients of strided 1x1 convolutions. They are computed as gradients of dense 1x1 convolutions, which are matrix
// products, over the pixels that the stride reaches. Rates of ResNet-50's six strided convolutions on an Intel Xeon
// with AMX, one thread: input gradients at 61 to 118 GFLOP/s, where oneDNN's kernels for strides reach 42 to 93
// (bfloat16: 143 to 255 and 61 to 167); filter gradients that are products at 70 to 100 instead of 50 to 86.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_STRIDED_POINTWISE_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_STRIDED_POINTWISE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/format/index.h"

namespace tandem {

// Makes the gradient of `c` from `dense`, the primitive of DensePointwiseCall(c)
// (runtime/library_calls/library_algorithm.h). Input gradient: `dense` computes the pixels that the stride reaches, the
// other pixels become zero. Filter gradient: `dense` gets a copy of those pixels of x.
std::unique_ptr<OneDnnPrimitive> MakeStridedPointwiseGrad(const format::Conv2D& c,
                                                          std::unique_ptr<OneDnnPrimitive> dense);
// Returns the name of such a gradient's implementation, made from `dense`, the name of the dense call's implementation.
std::string StridedPointwiseName(const std::string& dense);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_STRIDED_POINTWISE_H_
