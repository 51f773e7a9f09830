#include "runtime/library_calls/cublaslt_product.h"

#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/library_calls/matmul.h"
#include "runtime/library_calls/operation.h"

namespace tandem {
namespace {

int64_t Elements(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, int64_t{1}, std::multiplies<int64_t>());
}

// Describes a matrix in which all dimensions but the last are rows.
CublasLtMatrix Rows(const std::vector<int64_t>& shape, DType type, bool transpose) {
  CublasLtMatrix m;
  m.type = type;
  m.rows = m.leading_dimension = shape.back();
  m.columns = RowsOf(shape);
  m.transpose = transpose;
  return m;
}

// Describes the matrices of one operand of a BatchMatMul: [outer, inner, r, c], or [outer, r, inner, c] when swapped. A
// launch goes over `inner`, and there is one launch per index of `outer`.
CublasLtMatrix Batched(const std::vector<int64_t>& shape, DType type, bool swap, bool transpose) {
  const size_t rank = shape.size();
  const int64_t rows = shape[swap ? rank - 3 : rank - 2], columns = shape[rank - 1];
  const int64_t inner = shape[swap ? rank - 2 : rank - 3];
  CublasLtMatrix m;
  m.type = type;
  m.rows = columns;
  m.columns = rows;
  m.leading_dimension = swap ? inner * columns : columns;
  m.transpose = transpose;
  m.batch_stride = swap ? columns : rows * columns;
  m.launch_stride = inner * rows * columns;
  return m;
}

}  // namespace

CublasLtProduct DescribeProduct(const format::MatMul& call) {
  CublasLtProduct p;
  p.first = Rows(call.b_shape, call.b_dtype, call.transpose_b);
  p.second = Rows(call.a_shape, call.a_dtype, call.transpose_a);
  p.result = Rows(call.y_shape, call.y_dtype, false);
  p.epilogue = call.epilogue;
  p.text = TextOf(call);
  return p;
}

CublasLtProduct DescribeProduct(const format::BatchMatMul& call) {
  CublasLtProduct p;
  const size_t rank = call.a_shape.size();
  // The dimensions of y say that there are outer x inner products.
  const int64_t inner = call.y_shape[call.swap_y ? rank - 2 : rank - 3];
  const int64_t outer = Elements(call.y_shape, 0, rank - 3);
  p.first = Batched(call.b_shape, call.b_dtype, call.swap_b, call.transpose_b);
  p.second = Batched(call.a_shape, call.a_dtype, call.swap_a, call.transpose_a);
  p.result = Batched(call.y_shape, call.y_dtype, call.swap_y, false);
  p.text = TextOf(call);
  p.batch = inner;
  p.launches = outer;
  CublasLtMatrix* const operands[] = {&p.first, &p.second, &p.result};
  // One launch is enough if all matrices are at multiples of the inner stride. That is the case if they follow each
  // other, or if they are swapped and have one row.
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
