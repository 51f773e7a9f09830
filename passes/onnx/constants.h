// Helpers that compute constants while a model is exported.
#ifndef TANDEM_PASSES_ONNX_CONSTANTS_H_
#define TANDEM_PASSES_ONNX_CONSTANTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/host_tensor.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tandem::onnx {

// Returns the tensor whose dimension i is dimension permutation[i] of `value`.
HostTensor Permuted(const HostTensor& value, absl::Span<const int64_t> permutation);

// Returns 0, 1, ..., count - 1.
HostTensor Counted(int64_t count, DType dtype);

// Returns the elements of a constant of the graph.
HostTensor ElementsOf(mlir::DenseElementsAttr elements);

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_CONSTANTS_H_
