// Helpers for the types and numbers of a graph's values.
#ifndef TANDEM_PASSES_TRANSLATION_VALUES_H_
#define TANDEM_PASSES_TRANSLATION_VALUES_H_

#include "base/dtype.h"
#include "base/host_tensor.h"
#include "mlir/IR/Value.h"

namespace tandem::translation {

Shape ShapeOf(mlir::Value value);
DType ElementTypeOf(mlir::Value value);

// Returns `number` as a scalar of this type. As a boolean, a number that is not 0 is true.
HostTensor NumberOf(double number, DType dtype);

}  // namespace tandem::translation

#endif  // TANDEM_PASSES_TRANSLATION_VALUES_H_
