// Library calls for tests.
#ifndef TANDEM_RUNTIME_TESTING_LIBRARY_CALLS_H_
#define TANDEM_RUNTIME_TESTING_LIBRARY_CALLS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

// Returns a call of any operation of runtime/format/index.td.
template <typename Operation>
format::LibraryCall CallOf(Operation operation, format::Algorithm algorithm = format::Algorithm::kLibrary) {
  format::LibraryCall call;
  call.operation = std::move(operation);
  call.algorithm = algorithm;
  return call;
}

inline void SetTypes(format::Conv2D& conv, DType type) { conv.x_dtype = conv.kernel_dtype = conv.y_dtype = type; }
template <typename Product>  // MatMulT or BatchMatMulT
void SetTypes(Product& product, DType type) {
  product.a_dtype = product.b_dtype = product.y_dtype = type;
}

// Returns a convolution of `n` images [h, w, c] with a kernel [kh, kw, c, o]; strides and pads are the same in both
// dimensions.
inline format::Conv2D Conv(int n, int h, int w, int c, int kh, int kw, int o, int stride, int low, int high) {
  format::Conv2D conv;
  conv.x_shape = {n, h, w, c};
  conv.kernel_shape = {kh, kw, c, o};
  conv.strides = {stride, stride};
  conv.pad_low = {low, low};
  conv.pad_high = {high, high};
  conv.y_shape = {n, (h + low + high - kh) / stride + 1, (w + low + high - kw) / stride + 1, o};
  return conv;
}

// Returns the same convolution with its channels in groups that do not see each other.
inline format::Conv2D Grouped(int groups, format::Conv2D conv) {
  conv.kernel_shape[2] /= groups;
  return conv;
}

// Returns the product [m, k] x [k, n] of operands that are stored transposed or not.
inline format::MatMul MatMulOf(int64_t m, int64_t k, int64_t n, bool transpose_a = false, bool transpose_b = false) {
  format::MatMul product;
  product.a_shape = transpose_a ? std::vector<int64_t>{k, m} : std::vector<int64_t>{m, k};
  product.b_shape = transpose_b ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n};
  product.y_shape = {m, n};
  product.transpose_a = transpose_a;
  product.transpose_b = transpose_b;
  return product;
}

// Returns `outer` x `inner` products, with flags of BatchMatMul as bits: transpose_a, transpose_b, swap_a, swap_b,
// swap_y.
inline format::BatchMatMul BatchMatMulOf(int64_t outer, int64_t inner, int64_t m, int64_t k, int64_t n, int flags) {
  const auto shape = [&](int64_t rows, int64_t columns, bool swap, bool transpose) {
    if (transpose) std::swap(rows, columns);
    return swap ? std::vector<int64_t>{outer, rows, inner, columns} : std::vector<int64_t>{outer, inner, rows, columns};
  };
  format::BatchMatMul product;
  product.transpose_a = flags & 1;
  product.transpose_b = flags & 2;
  product.swap_a = flags & 4;
  product.swap_b = flags & 8;
  product.swap_y = flags & 16;
  product.a_shape = shape(m, k, product.swap_a, product.transpose_a);
  product.b_shape = shape(k, n, product.swap_b, product.transpose_b);
  product.y_shape = shape(m, n, product.swap_y, false);
  return product;
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_LIBRARY_CALLS_H_
