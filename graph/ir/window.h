// Sliding windows over images: for pooling, and for convolutions that generated kernels compute.
#ifndef TANDEM_GRAPH_IR_WINDOW_H_
#define TANDEM_GRAPH_IR_WINDOW_H_

#include <cstdint>

#include "graph/ir/interfaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tandem::td {

// One axis (height or width) of a window that slides over an image.
struct WindowAxis {
  int64_t in, out;  // sizes of the image and of the output
  int64_t window, stride, low;
};

struct WindowGeometry {
  WindowAxis axes[2];
};

// `image` and `output` are the NHWC types of the op's input and output, or of their gradients.
WindowGeometry GetWindowGeometry(mlir::Type image, mlir::Type output, llvm::ArrayRef<int64_t> window,
                                 llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> low);

// A position in an image: an index that is always in bounds, and the condition that it is the requested one (null:
// always).
struct WindowPosition {
  mlir::Value at;
  mlir::Value inside;
};

// Emits scalar code for one element. Differences between elements (which windows cover one, what lies in the padding)
// are handled by index arithmetic and selects, never by branches, so that loops over the channels vectorise.
class WindowEmitter {
 public:
  using Value = mlir::Value;

  WindowEmitter(ElementalContext& c, const WindowGeometry& g) : b_(c.builder()), l_(c.loc()), g_(g) {}

  Value Index(int64_t v);
  Value Float(mlir::Type t, double v);
  Value Int(mlir::Type t, int64_t v);
  Value Select(Value condition, Value x, Value y);  // x if condition is null
  Value And(Value x, Value y);                      // true if both conditions are; null stands for true
  Value Compare(mlir::arith::CmpIPredicate p, Value x, Value y);
  Value AtMost(Value x, int64_t limit);  // x <= limit, for indices
  Value AddF(Value x, Value y);          // x + y, or y if x is null
  Value MulF(Value x, Value y);

  // The image position at offset `offset` of window `o`.
  WindowPosition InImage(int axis, Value o, int64_t offset);
  // The element of operand `operand`, an image, at tap (ky, kx) of the window of output element `at`; 0 in the padding.
  Value Tap(ElementalContext& c, unsigned operand, mlir::ValueRange at, int64_t ky, int64_t kx, Value channel);

  // Calls f(window row, window column, row offset, column offset) for every window that may cover the image element at
  // `indices`, and adds up the results for the windows that really do; for other windows the offsets may be too large.
  Value SumOverWindows(mlir::ValueRange indices, llvm::function_ref<Value(Value, Value, Value, Value)> f);

  // The row-major number of element (ky, kx) in the window, as an integer of type t.
  Value Place(Value ky, Value kx, mlir::Type t);
  // The number of elements of window (oy, ox) inside the image, as a number of type t.
  Value Count(Value oy, Value ox, mlir::Type t);

 private:
  // The number of windows that may cover an element of the image, along one axis.
  int64_t Candidates(int axis) const;
  // Returns the t-th of the windows that may cover image element i, counted from the last: (i + low) / stride - t.
  WindowPosition Candidate(int axis, Value i, int64_t t);
  // Returns the offset of image element i inside the window that Candidate(axis, i, t) returns.
  Value Offset(int axis, Value i, int64_t t);
  Value Shifted(int axis, Value i);
  Value Last(int axis, Value i);

  mlir::OpBuilder& b_;
  mlir::Location l_;
  WindowGeometry g_;
};

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_WINDOW_H_
