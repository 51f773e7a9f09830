// Convolutions and their gradients.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_

#include <cstdint>

#include "runtime/executable_generated.h"

namespace tandem {

// The kernel has the input channels of one group, and the groups' output channels one after another.
int64_t Groups(const fb::Conv2DT& conv);

// A 1x1 kernel over all channels.
bool IsPointwise(const fb::Conv2DT& conv);
// The same without strides and pads: a product of matrices over all pixels.
bool IsDensePointwise(const fb::Conv2DT& conv);
// A 1x1 convolution without padding in front and with a stride, whose gradients are those of a dense convolution over
// the pixels that the stride reaches. `conv` is one that CheckOperation accepts, as everywhere here.
bool IsStridedPointwise(const fb::Conv2DT& conv);
// That convolution: its x is [n, height of y, width of y, in].
fb::Conv2DT DensePointwise(const fb::Conv2DT& conv);

// Of what the direction computes with and gives: x and y by their roles.
fb::DType OperandType(const fb::Conv2DT& conv);
fb::DType ResultType(const fb::Conv2DT& conv);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_
