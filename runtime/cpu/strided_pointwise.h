// Gradients of strided 1x1 convolutions: those of dense ones over the pixels that the stride reaches, which are a
// product. On an Intel Xeon with AMX, one thread, ResNet-50's six: input gradients at 61 to 118 instead of 42 to 93
// GFLOP/s of oneDNN's kernels for strides (bfloat16: 143 to 255 instead of 61 to 167), filter gradients that are
// products at 70 to 100 instead of 50 to 86.
#ifndef TANDEM_RUNTIME_CPU_STRIDED_POINTWISE_H_
#define TANDEM_RUNTIME_CPU_STRIDED_POINTWISE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cpu/onednn_primitives.h"
#include "runtime/format/index.h"

namespace tandem {

// Input gradient: `dense` computes the reached pixels, the others become zero. Filter gradient: `dense` gets a copy of
// the reached pixels of x. `dense` is the primitive of DensePointwiseCall(c)
// (runtime/library_algorithm.h).
std::unique_ptr<OneDnnPrimitive> MakeStridedPointwiseGrad(const format::Conv2D& c,
                                                          std::unique_ptr<OneDnnPrimitive> dense);
// The name of its implementation, made of that of the dense call's.
std::string StridedPointwiseName(const std::string& dense);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STRIDED_POINTWISE_H_
