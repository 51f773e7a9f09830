// Checks and library calls that plain and depthwise convolutions, and their gradients, share.
#ifndef TANDEM_GRAPH_IR_CONVOLUTION_H_
#define TANDEM_GRAPH_IR_CONVOLUTION_H_

#include <cstdint>
#include <optional>

#include "graph/ir/interfaces.h"

namespace tandem::td {

// Fails unless there are two strides of at least 1 and two pads of at least 0, for height and width.
llvm::LogicalResult CheckGeometry(std::optional<mlir::Location> loc, llvm::ArrayRef<int64_t> strides,
                                  llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

llvm::LogicalResult CheckSameElementType(std::optional<mlir::Location> loc, mlir::RankedTensorType a,
                                         mlir::RankedTensorType b);

// Returns the library call of a convolution of `x` with `kernel` whose output is `y`. For the call of a gradient, one
// of the three values is the result.
LibraryCallSpec ConvolutionSpec(LibraryPrimitive primitive, mlir::Value x, mlir::Value kernel, mlir::Value y,
                                llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> low,
                                llvm::ArrayRef<int64_t> high);

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_CONVOLUTION_H_
