#include "runtime/cuda/cublaslt_product.h"

#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace tandem {
namespace {

int64_t Elements(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, int64_t{1}, std::multiplies<int64_t>());
}

// All dimensions but the last are rows.
CublasLtMatrix Rows(const std::vector<int64_t>& shape, bool transpose) {
  CublasLtMatrix m;
  m.rows = m.leading_dimension = shape.back();
  m.columns = Elements(shape, 0, shape.size() - 1);
  m.transpose = transpose;
  return m;
}

// The matrices of one operand of a BatchMatMul: [outer, inner, r, c], or [outer, r, inner, c] when swapped. A launch
// goes over `inner`, and there is one launch per index of `outer`.
CublasLtMatrix Batched(const std::vector<int64_t>& shape, bool swap, bool transpose) {
  const size_t rank = shape.size();
  const int64_t rows = shape[swap ? rank - 3 : rank - 2], columns = shape[rank - 1];
  const int64_t inner = shape[swap ? rank - 2 : rank - 3];
  CublasLtMatrix m;
  m.rows = columns;
  m.columns = rows;
  m.leading_dimension = swap ? inner * columns : columns;
  m.transpose = transpose;
  m.batch_stride = swap ? columns : rows * columns;
  m.launch_stride = inner * rows * columns;
  return m;
}

}  // namespace

CublasLtProduct DescribeProduct(const fb::LibraryCallT& call) {
  CublasLtProduct p;
  if (call.primitive == fb::Primitive::MatMul) {
    p.first = Rows(call.kernel_shape, call.transpose_b);
    p.second = Rows(call.x_shape, call.transpose_a);
    p.result = Rows(call.y_shape, false);
    return p;
  }
  const size_t rank = call.x_shape.size();
  // y's dimensions: outer x inner products.
  const int64_t inner = call.y_shape[call.swap_y ? rank - 2 : rank - 3];
  const int64_t outer = Elements(call.y_shape, 0, rank - 3);
  p.first = Batched(call.kernel_shape, call.swap_kernel, call.transpose_b);
  p.second = Batched(call.x_shape, call.swap_x, call.transpose_a);
  p.result = Batched(call.y_shape, call.swap_y, false);
  p.batch = inner;
  p.launches = outer;
  CublasLtMatrix* const operands[] = {&p.first, &p.second, &p.result};
  // Matrices that lie one behind another, and swapped ones of one row: all are at multiples of the inner stride.
  bool one_stride = true;
  for (const CublasLtMatrix* m : operands) one_stride = one_stride && m->launch_stride == m->batch_stride * inner;
  if (one_stride) {
    p.batch = inner * outer;
    p.launches = 1;
  } else if (inner < outer) {
    std::swap(p.batch, p.launches);
    for (CublasLtMatrix* m : operands) std::swap(m->batch_stride, m->launch_stride);
  }
  return p;
}

}  // namespace tandem
