// Recognizes kernels whose values all have one shape without a batch.
#ifndef TANDEM_PASSES_PHASES_FUSION_ELEMENTWISE_KERNEL_H_
#define TANDEM_PASSES_PHASES_FUSION_ELEMENTWISE_KERNEL_H_

#include <cstdint>
#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Returns the common shape of all tensors of `kernel` except scalars, if the kernel consists of elementwise ops, splat
// constants and broadcasts of scalars only, none of which depends on an element's place in the shape; else nothing. The
// shape is empty if all values are scalars.
std::optional<llvm::ArrayRef<int64_t>> ElementwiseShape(mlir::func::FuncOp kernel);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_FUSION_ELEMENTWISE_KERNEL_H_
