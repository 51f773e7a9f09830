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
#include "runtime/executable_generated.h"

namespace tandem {

// Whether `c`, a convolution's gradient or the packing of its kernel (`primitive` says for which), is computed so: a
// 1x1 kernel without padding in front, and a stride. A filter gradient that is not a product when it is dense gains
// nothing.
bool IsStridedPointwiseGrad(const fb::LibraryCallT& c, fb::Primitive primitive);

// The convolution without stride whose x has the pixels that the stride reaches, [n, height of y, width of y, in].
fb::LibraryCallT DensePointwise(const fb::LibraryCallT& c);

// Input gradient: `dense` computes the reached pixels, the others become zero. Filter gradient: `dense` gets a copy of
// the reached pixels of x. `dense` is the primitive of DensePointwise(c).
std::unique_ptr<OneDnnPrimitive> MakeStridedPointwiseGrad(const fb::LibraryCallT& c,
                                                          std::unique_ptr<OneDnnPrimitive> dense);
// The name of its implementation, made of that of the dense call's.
std::string StridedPointwiseName(const std::string& dense);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STRIDED_POINTWISE_H_
