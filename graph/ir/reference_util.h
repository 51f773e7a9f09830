// Helpers for the `evaluate` methods of td ops (the reference interpreter).
#ifndef TANDEM_GRAPH_IR_REFERENCE_UTIL_H_
#define TANDEM_GRAPH_IR_REFERENCE_UTIL_H_

#include <cstdint>
#include <vector>

#include "graph/ir/interfaces.h"

namespace tandem::td {

// Returns zeros of `type`, with `batch` rows if it is batched.
inline RefTensor MakeResult(mlir::Type type, int64_t batch) {
  RefTensor t;
  t.dtype = ToDType(mlir::getElementTypeOrSelf(type));
  t.shape = ToShape(type);
  for (int64_t& d : t.shape) {
    if (d == kBatch) d = batch;
  }
  t.values.assign(NumElements(t.shape), 0.0);
  return t;
}

// Number of elements in one row of a batched type, or in the whole tensor.
inline int64_t RowElements(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  int64_t n = 1;
  for (int64_t d : t.getShape()) {
    if (!mlir::ShapedType::isDynamic(d)) n *= d;
  }
  return n;
}

// Row-major strides in elements.
inline Shape Strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

// Calls f(index, linear) for every element of `shape`, row-major.
template <typename F>
void ForEachIndex(const Shape& shape, F f) {
  int64_t n = NumElements(shape);
  Shape index(shape.size(), 0);
  for (int64_t linear = 0; linear < n; ++linear) {
    f(static_cast<const Shape&>(index), linear);
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_REFERENCE_UTIL_H_
