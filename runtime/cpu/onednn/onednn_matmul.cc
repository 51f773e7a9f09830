#include "runtime/cpu/onednn/onednn_matmul.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct MatMul {
  explicit MatMul(const format::MatMul& c)
      : a(Dims(c.a_shape, c.transpose_a), TypeOf(c.a_dtype), c.transpose_a ? Tag::ba : Tag::ab),
        plain(Dims(c.b_shape, c.transpose_b), TypeOf(c.b_dtype), c.transpose_b ? Tag::ba : Tag::ab),
        any(Dims(c.b_shape, c.transpose_b), TypeOf(c.b_dtype), Tag::any),
        bias({1, c.y_shape.back()}, kF32, Tag::ab),
        y(Dims(c.y_shape, false), TypeOf(c.y_dtype), Tag::ab) {}
  // Returns the dimensions of a matrix whose rows are all dimensions of `shape` but the last.
  static memory::dims Dims(const std::vector<int64_t>& shape, bool transpose) {
    const int64_t rows = RowsOf(shape);
    return transpose ? memory::dims{shape.back(), rows} : memory::dims{rows, shape.back()};
  }
  dnnl::matmul::primitive_desc Make(const memory::desc& b, bool with_bias, const dnnl::primitive_attr& attr) const {
    if (with_bias) return {Engine(), a, b, bias, y, attr};
    return {Engine(), a, b, y, attr};
  }

  memory::desc a, plain, any, bias, y;
};

// A product of batches of matrices. oneDNN accepts operands with any strides, so nothing is transposed or swapped in
// memory.
struct BatchMatMul {
  explicit BatchMatMul(const format::BatchMatMul& c)
      : a(Desc(c.a_shape, TypeOf(c.a_dtype), c.swap_a, c.transpose_a)),
        b(Desc(c.b_shape, TypeOf(c.b_dtype), c.swap_b, c.transpose_b)),
        y(Desc(c.y_shape, TypeOf(c.y_dtype), c.swap_y, false)) {}
  // The dimensions are [batches, heads, rows, columns]: heads is the last of the leading dimensions, and batches the
  // product of the leading dimensions before it.
  static memory::desc Desc(const std::vector<int64_t>& stored, memory::data_type type, bool swap, bool transpose) {
    size_t rank = stored.size();
    int64_t batches = 1;
    for (size_t i = 0; i + 3 < rank; ++i) batches *= stored[i];
    int64_t heads = stored[swap ? rank - 2 : rank - 3], rows = stored[swap ? rank - 3 : rank - 2];
    int64_t columns = stored[rank - 1], row_stride = columns, column_stride = 1, head_stride = rows * columns;
    int64_t batch_stride = heads * rows * columns;
    if (swap) {
      row_stride = heads * columns;
      head_stride = columns;
    }
    if (transpose) {
      std::swap(rows, columns);
      std::swap(row_stride, column_stride);
    }
    return {{batches, heads, rows, columns}, type, memory::dims{batch_stride, head_stride, row_stride, column_stride}};
  }

  memory::desc a, b, y;
};

}  // namespace

memory::desc PlainKernel(const format::MatMul& c) { return MatMul(c).plain; }

memory::desc PackedKernel(const format::MatMul& c) {
  MatMul m(c);
  return m.Make(m.any, false, Attributes({})).weights_desc();
}

Plan PlanOf(const format::MatMul& c, const format::MatMul& packed_for) {
  MatMul m(c);
  std::vector<Argument> others = {{DNNL_ARG_SRC, Source::kInput0, m.a}, {DNNL_ARG_DST, Source::kOutput, m.y}};
  if (c.epilogue.bias) others.push_back({DNNL_ARG_BIAS, Source::kInput2, m.bias});
  return PlanWithKernel<dnnl::matmul>(
      c.packed, m.plain, [&](const memory::desc& k) { return m.Make(k, c.epilogue.bias, Attributes(c.epilogue)); },
      [&] { return PackedKernel(c.packed ? packed_for : c); }, std::move(others));
}

Plan PlanOf(const format::BatchMatMul& c) {
  BatchMatMul m(c);
  return PlanProduct({Engine(), m.a, m.b, m.y, Attributes({})});
}

}  // namespace onednn
}  // namespace tandem
