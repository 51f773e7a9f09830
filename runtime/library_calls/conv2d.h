// Convolutions and their gradients.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_

#include <cstdint>

#include "runtime/format/index.h"

namespace tandem {

// The kernel has the input channels of one group, and the groups' output channels one after another.
int64_t Groups(const format::Conv2D& conv);

// A 1x1 kernel over all channels.
bool IsPointwise(const format::Conv2D& conv);
// The same without strides and pads: a product of matrices over all pixels.
bool IsDensePointwise(const format::Conv2D& conv);
// A 1x1 convolution without padding in front and with a stride, whose gradients are those of a dense convolution over
// the pixels that the stride reaches. `conv` is one that CheckOperation accepts, as everywhere here.
bool IsStridedPointwise(const format::Conv2D& conv);
// That convolution: its x is [n, height of y, width of y, in].
format::Conv2D DensePointwise(const format::Conv2D& conv);

// Of what the direction computes with and gives: x and y by their roles.
DType OperandType(const format::Conv2D& conv);
DType ResultType(const format::Conv2D& conv);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_
