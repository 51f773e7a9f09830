// Kernels without batch whose values all have one shape.
#ifndef TANDEM_PASSES_FUSION_ELEMENTWISE_KERNEL_H_
#define TANDEM_PASSES_FUSION_ELEMENTWISE_KERNEL_H_

#include <cstdint>
#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// The shape of all tensors of `kernel` but scalars, where it has nothing but elementwise ops, constants of one value
// and scalars that are spread, none of which asks at which place of the shape an element is; else nothing. Empty where
// all are scalars.
std::optional<llvm::ArrayRef<int64_t>> ElementwiseShape(mlir::func::FuncOp kernel);

}  // namespace tandem

#endif  // TANDEM_PASSES_FUSION_ELEMENTWISE_KERNEL_H_
