// Max and average pooling and their gradients.
#ifndef TANDEM_GRAPH_IR_POOL_H_
#define TANDEM_GRAPH_IR_POOL_H_

#include "graph/ir/dialect.h"

#define GET_OP_CLASSES
#include "graph/ir/pool.h.inc"

namespace tandem::td {

// In the result of td.max_pool_argmax: no element of the window takes the gradient. Windows are smaller than this.
inline constexpr int64_t kNoMaximum = 255;

// One axis (height or width) of a window that slides over an image.
struct WindowAxis {
  int64_t in, out;  // sizes of the image and of the pooled image
  int64_t window, stride, low;
};

struct WindowGeometry {
  WindowAxis axes[2];
};

// `image` and `pooled` are the NHWC types of the op's input and output.
WindowGeometry GetWindowGeometry(mlir::Type image, mlir::Type pooled, llvm::ArrayRef<int64_t> window,
                                 llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> low);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_POOL_H_
