// Shapes of the library operation MatMul, a matrix product.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_MATMUL_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_MATMUL_H_

#include <cstdint>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

// Returns the product of all sizes but the last. `shape` is not empty.
int64_t RowsOf(const std::vector<int64_t>& shape);

// Returns the shape of the mask that a relu saves for a result of shape `y_shape`: a bit per element, rows filled up to
// 16 bytes. The type is UInt8. Element j of a row is bit j % 8 of byte j / 8.
std::vector<int64_t> ReluMaskShape(const std::vector<int64_t>& y_shape);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_MATMUL_H_
