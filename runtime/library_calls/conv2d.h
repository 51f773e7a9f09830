// Properties of the library operation Conv2D: a convolution or one of its gradients.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_

#include <cstdint>

#include "runtime/format/index.h"

namespace tandem {

// Returns the number of groups. The kernel's input dimension is that of one group; its output channels are those of all
// groups, one group after another.
int64_t Groups(const format::Conv2D& conv);

// True if the kernel is 1x1 and there is one group.
bool IsPointwise(const format::Conv2D& conv);
// True if IsPointwise is true and there are no strides and pads: the convolution is a product of matrices over all
// pixels.
bool IsDensePointwise(const format::Conv2D& conv);
// True for a 1x1 convolution without padding in front and with a stride. Its gradients are those of a dense convolution
// over the pixels that the stride reaches. CheckOperation must accept `conv`, as for all functions here.
bool IsStridedPointwise(const format::Conv2D& conv);
// Returns the dense convolution for a `conv` with IsStridedPointwise: its x is [n, height of y, width of y, in].
format::Conv2D DensePointwise(const format::Conv2D& conv);

// The types of the first operand and of the result. They depend on the direction: for an input gradient the first
// operand is dy, which has the type of y.
DType OperandType(const format::Conv2D& conv);
DType ResultType(const format::Conv2D& conv);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_CONV2D_H_
