// The ops for convolutions on a CPU's matrix unit, and the sizes that passes and the code generator need of these ops.
#ifndef TANDEM_PASSES_EXEC_PACKED_H_
#define TANDEM_PASSES_EXEC_PACKED_H_

#include "passes/exec/dialect.h"
#include "passes/exec/packed_shape.h"

#define GET_OP_CLASSES
#include "passes/exec/packed.h.inc"

namespace tandem::exec {

// Returns the sizes of a valid op, or of the op that it is to replace, from types and attributes.
PackedShape PackedShapeOf(mlir::Value x, mlir::Value dy, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> strides,
                          llvm::ArrayRef<int64_t> pad_low);
PackedShape ShapeOf(PackedFilterGradOp op);

// Returns the type of the scratch memory, which follows from the sizes.
mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const PackedShape& shape);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_PACKED_H_
