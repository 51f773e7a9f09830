#include "graph/ir/convolution.h"

#include "graph/ir/message.h"

namespace tandem::td {

llvm::LogicalResult CheckGeometry(std::optional<mlir::Location> loc, llvm::ArrayRef<int64_t> strides,
                                  llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high) {
  if (strides.size() != 2 || low.size() != 2 || high.size() != 2) {
    return mlir::emitOptionalError(loc, "needs strides and pads for height and width, not strides ", Str(strides),
                                   ", low ", Str(low), " and high ", Str(high));
  }
  for (int i = 0; i < 2; ++i) {
    if (strides[i] < 1 || low[i] < 0 || high[i] < 0) {
      return mlir::emitOptionalError(loc, "strides ", Str(strides), " must be at least 1, and low ", Str(low),
                                     " and high ", Str(high), " must not be negative");
    }
  }
  return mlir::success();
}

llvm::LogicalResult CheckSameElementType(std::optional<mlir::Location> loc, mlir::RankedTensorType a,
                                         mlir::RankedTensorType b) {
  if (a.getElementType() == b.getElementType()) return mlir::success();
  return mlir::emitOptionalError(loc, "operands must have one element type, not ", a.getElementType(), " and ",
                                 b.getElementType(), "; cast one of them");
}

LibraryCallSpec ConvolutionSpec(LibraryPrimitive primitive, mlir::Value x, mlir::Value kernel, mlir::Value y,
                                llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> low,
                                llvm::ArrayRef<int64_t> high) {
  LibraryCallSpec spec{primitive};
  spec.x = x;
  spec.kernel = kernel;
  spec.y = y;
  spec.strides.assign(strides.begin(), strides.end());
  spec.pad_low.assign(low.begin(), low.end());
  spec.pad_high.assign(high.begin(), high.end());
  return spec;
}

}  // namespace tandem::td
